use std::sync::OnceLock;

/// Empty stand-ins for what a closure resolves without having declared it, so that a mistake is an error of
/// the run and never a panic while recording. Made for the first mistake: a correct program has none.
#[derive(Debug)]
pub(crate) struct Void {
    device: wgpu::Device,
    objects: OnceLock<Objects>,
}

#[derive(Debug)]
pub(crate) struct Objects {
    pub(crate) buffer: wgpu::Buffer,
    pub(crate) view: wgpu::TextureView,
    pub(crate) group: wgpu::BindGroup,
}

impl Void {
    pub(crate) fn new(device: &wgpu::Device) -> Self {
        Self { device: device.clone(), objects: OnceLock::new() }
    }

    pub(crate) fn objects(&self) -> &Objects {
        self.objects.get_or_init(|| Objects::new(&self.device))
    }
}

impl Objects {
    fn new(device: &wgpu::Device) -> Self {
        let buffer = device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("graph void"),
            size: 256,
            usage: wgpu::BufferUsages::VERTEX
                | wgpu::BufferUsages::INDEX
                | wgpu::BufferUsages::INDIRECT
                | wgpu::BufferUsages::STORAGE
                | wgpu::BufferUsages::UNIFORM
                | wgpu::BufferUsages::COPY_SRC
                | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        let texture = device.create_texture(&wgpu::TextureDescriptor {
            label: Some("graph void"),
            size: wgpu::Extent3d::default(),
            mip_level_count: 1,
            sample_count: 1,
            dimension: wgpu::TextureDimension::D2,
            format: wgpu::TextureFormat::Rgba8Unorm,
            usage: wgpu::TextureUsages::TEXTURE_BINDING,
            view_formats: &[],
        });
        let layout = device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
            label: Some("graph void"),
            entries: &[],
        });
        let group = device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: Some("graph void"),
            layout: &layout,
            entries: &[],
        });
        Self { buffer, view: texture.create_view(&Default::default()), group }
    }
}
