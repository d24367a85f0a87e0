//! A device with WebGPU's default limits on whatever adapter answers, software included.

/// Fails when no adapter answers: a test that cannot run must not pass.
pub fn device() -> (wgpu::Device, wgpu::Queue) {
    device_with(wgpu::Limits::default())
}

/// As [`device`], with less of something.
pub fn device_with(required_limits: wgpu::Limits) -> (wgpu::Device, wgpu::Queue) {
    let instance = wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle());
    let adapter = pollster::block_on(instance.request_adapter(&wgpu::RequestAdapterOptions::default()))
        .expect("no graphics adapter; on Debian and Ubuntu: apt-get install mesa-vulkan-drivers");
    let descriptor = wgpu::DeviceDescriptor { required_limits, ..Default::default() };
    pollster::block_on(adapter.request_device(&descriptor)).expect("a device with default limits")
}

/// Submits and waits until the GPU is done.
pub fn submit(device: &wgpu::Device, queue: &wgpu::Queue, encoder: wgpu::CommandEncoder) {
    queue.submit([encoder.finish()]);
    device.poll(wgpu::PollType::wait_indefinitely()).expect("the device answers");
}

/// A square picture to draw into and to copy from.
pub fn picture(device: &wgpu::Device, side: u32, format: wgpu::TextureFormat) -> wgpu::Texture {
    device.create_texture(&wgpu::TextureDescriptor {
        label: None,
        size: wgpu::Extent3d { width: side, height: side, depth_or_array_layers: 1 },
        mip_level_count: 1,
        sample_count: 1,
        dimension: wgpu::TextureDimension::D2,
        format,
        usage: wgpu::TextureUsages::RENDER_ATTACHMENT | wgpu::TextureUsages::COPY_SRC,
        view_formats: &[],
    })
}
