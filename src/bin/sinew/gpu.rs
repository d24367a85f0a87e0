use std::{
    fmt,
    sync::{Arc, Mutex, PoisonError},
};

use crate::failure::Failure;

/// The program's own device.
pub(crate) struct Gpu {
    pub(crate) device: wgpu::Device,
    pub(crate) queue: wgpu::Queue,
    pub(crate) name: AdapterName,
    first_error: Arc<Mutex<Option<String>>>,
}

/// An adapter for people: `llvmpipe (Vulkan, software)`.
#[derive(Clone, Debug)]
pub(crate) struct AdapterName(pub(crate) wgpu::AdapterInfo);

impl fmt::Display for AdapterName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self.0.device_type {
            wgpu::DeviceType::DiscreteGpu => "discrete GPU",
            wgpu::DeviceType::IntegratedGpu => "integrated GPU",
            wgpu::DeviceType::VirtualGpu => "virtual GPU",
            wgpu::DeviceType::Cpu => "software",
            wgpu::DeviceType::Other => "unknown kind",
        };
        write!(f, "{} ({:?}, {kind})", self.0.name, self.0.backend)
    }
}

/// Every adapter that wgpu finds, the best first: real GPUs before software. OpenGL is asked only where no
/// native API answers, because opening it may make the driver print to stderr.
pub(crate) fn adapters() -> Vec<wgpu::Adapter> {
    let native = enumerate(wgpu::Backends::all() - wgpu::Backends::GL);
    let mut found = if native.is_empty() { enumerate(wgpu::Backends::GL) } else { native };
    found.sort_by_key(|adapter| rank(&adapter.get_info()));
    found
}

fn enumerate(backends: wgpu::Backends) -> Vec<wgpu::Adapter> {
    let descriptor =
        wgpu::InstanceDescriptor { backends, ..wgpu::InstanceDescriptor::new_without_display_handle() };
    pollster::block_on(wgpu::Instance::new(descriptor).enumerate_adapters(backends))
}

fn rank(info: &wgpu::AdapterInfo) -> u8 {
    match info.device_type {
        wgpu::DeviceType::DiscreteGpu => 0,
        wgpu::DeviceType::IntegratedGpu => 1,
        wgpu::DeviceType::VirtualGpu => 2,
        wgpu::DeviceType::Other => 3,
        wgpu::DeviceType::Cpu => 4,
    }
}

/// The limits to ask a device for: WebGPU's defaults, and as much memory as the adapter has.
pub(crate) fn wanted_limits(adapter: &wgpu::Adapter) -> wgpu::Limits {
    let (least, most) = (wgpu::Limits::default(), adapter.limits());
    wgpu::Limits {
        max_buffer_size: most.max_buffer_size.max(least.max_buffer_size),
        max_storage_buffer_binding_size: most
            .max_storage_buffer_binding_size
            .max(least.max_storage_buffer_binding_size),
        max_texture_dimension_2d: most.max_texture_dimension_2d.max(least.max_texture_dimension_2d),
        ..least
    }
}

impl Gpu {
    /// Opens the best adapter, or the best one whose name contains `wanted` in any case.
    pub(crate) fn open(wanted: Option<&str>) -> Result<Self, Failure> {
        let _span = tracing::debug_span!("open adapter").entered();
        let mut found = adapters();
        if found.is_empty() {
            return Err(Failure::new("no graphics adapter answers")
                .help("`sinew doctor` says what to install; a software driver is enough"));
        }
        let names: Vec<_> = found.iter().map(|a| AdapterName(a.get_info())).collect();
        let fits = |name: &AdapterName| {
            wanted.is_none_or(|w| name.to_string().to_lowercase().contains(&w.to_lowercase()))
        };
        let Some(at) = names.iter().position(fits) else {
            let list: Vec<_> = names.iter().map(ToString::to_string).collect();
            return Err(Failure::new(format_args!("no adapter is called `{}`", wanted.unwrap_or_default()))
                .help(format_args!("there are {}", list.join(", "))));
        };
        Self::request(&found.swap_remove(at))
    }

    fn request(adapter: &wgpu::Adapter) -> Result<Self, Failure> {
        let name = AdapterName(adapter.get_info());
        let descriptor = wgpu::DeviceDescriptor {
            label: Some("sinew"),
            required_features: adapter.features() & wgpu::Features::TIMESTAMP_QUERY,
            required_limits: wanted_limits(adapter),
            ..Default::default()
        };
        let (device, queue) = pollster::block_on(adapter.request_device(&descriptor)).map_err(|error| {
            Failure::new(format_args!("{name} cannot be used: {error}"))
                .help("`sinew doctor` lists the adapters; choose another one with --adapter")
        })?;
        let first_error = Arc::new(Mutex::new(None));
        let store = Arc::clone(&first_error);
        device.on_uncaptured_error(Arc::new(move |error: wgpu::Error| {
            let mut first = store.lock().unwrap_or_else(PoisonError::into_inner);
            first.get_or_insert_with(|| error.to_string());
        }));
        Ok(Self { device, queue, name, first_error })
    }

    /// Fails if anything went wrong on the device since it was opened.
    pub(crate) fn check(&self) -> Result<(), Failure> {
        let first = self.first_error.lock().unwrap_or_else(PoisonError::into_inner);
        match &*first {
            Some(message) => Err(Failure::new(format_args!("{} refused the work: {message}", self.name))
                .help("this is a fault of sinew or of the driver; try another --adapter")),
            None => Ok(()),
        }
    }

    /// Waits until everything that was submitted is done.
    pub(crate) fn wait(&self) -> Result<(), Failure> {
        let polled = self.device.poll(wgpu::PollType::wait_indefinitely());
        self.check()?;
        polled.map(drop).map_err(|error| Failure::new(format_args!("{}: {error}", self.name)))
    }
}
