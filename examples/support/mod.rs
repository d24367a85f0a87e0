//! What the examples share: a device, a texture to draw into, and a file of what was drawn.
#![allow(clippy::print_stdout, reason = "a program says what it did")]
#![allow(dead_code, reason = "each example uses a part")]

pub(crate) type Failure = Box<dyn std::error::Error>;

/// The best adapter's device, with WebGPU's default limits.
pub(crate) async fn open() -> Result<(wgpu::Device, wgpu::Queue), Failure> {
    let instance = wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle());
    let adapter = instance.request_adapter(&Default::default()).await?;
    Ok(adapter.request_device(&Default::default()).await?)
}

/// A texture to draw into and copy from, of one sample.
pub(crate) fn texture(
    device: &wgpu::Device,
    label: &str,
    [width, height]: [u32; 2],
    format: wgpu::TextureFormat,
) -> wgpu::Texture {
    device.create_texture(&wgpu::TextureDescriptor {
        label: Some(label),
        size: wgpu::Extent3d { width, height, depth_or_array_layers: 1 },
        mip_level_count: 1,
        sample_count: 1,
        dimension: wgpu::TextureDimension::D2,
        format,
        usage: wgpu::TextureUsages::RENDER_ATTACHMENT | wgpu::TextureUsages::COPY_SRC,
        view_formats: &[],
    })
}

/// Submits the frame, waits for its pixels and writes them. The width is a multiple of 64, as copies need.
pub(crate) fn save(
    device: &wgpu::Device,
    queue: &wgpu::Queue,
    mut encoder: wgpu::CommandEncoder,
    picture: &wgpu::Texture,
    path: &str,
) -> Result<(), Failure> {
    let (width, height) = (picture.width(), picture.height());
    let pixels = device.create_buffer(&wgpu::BufferDescriptor {
        label: Some("pixels"),
        size: u64::from(width * 4 * height),
        usage: wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST,
        mapped_at_creation: false,
    });
    let layout =
        wgpu::TexelCopyBufferLayout { offset: 0, bytes_per_row: Some(width * 4), rows_per_image: None };
    let into = wgpu::TexelCopyBufferInfo { buffer: &pixels, layout };
    encoder.copy_texture_to_buffer(picture.as_image_copy(), into, picture.size());
    encoder.map_buffer_on_submit(&pixels, wgpu::MapMode::Read, .., |_| {});
    queue.submit([encoder.finish()]);
    device.poll(wgpu::PollType::wait_indefinitely())?;
    let bytes = pixels.slice(..).get_mapped_range()?;
    image::save_buffer(path, &bytes, width, height, image::ColorType::Rgba8)?;
    println!("{path}");
    Ok(())
}
