use std::sync::{Arc, OnceLock};

/// Says that a device was lost.
///
/// wgpu tells it to one callback per device, and a second one replaces the first, so nothing here sets one: put
/// [`callback`](Self::callback) into yours, or call [`install`](Self::install) if you have none. wgpu runs the
/// callback while the device is polled or submitted to, so a frame or two may pass before it is known.
#[derive(Clone, Debug, Default)]
pub struct LossFlag(Arc<OnceLock<Loss>>);

/// Why a device was lost.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Loss {
    /// What kind of loss it is.
    pub reason: wgpu::DeviceLostReason,
    /// What the driver says.
    pub message: String,
}

impl LossFlag {
    /// A flag that is down.
    pub fn new() -> Self {
        Self::default()
    }

    /// The function to call when the device is lost, as `wgpu::Device::set_device_lost_callback` takes it.
    pub fn callback(&self) -> impl Fn(wgpu::DeviceLostReason, String) + Send + 'static {
        let flag = self.clone();
        move |reason, message| flag.raise(reason, message)
    }

    /// Sets [`callback`](Self::callback) on `device`, in the place of the one it has.
    pub fn install(&self, device: &wgpu::Device) {
        device.set_device_lost_callback(self.callback());
    }

    /// Notes a loss. The first one stays.
    pub fn raise(&self, reason: wgpu::DeviceLostReason, message: impl Into<String>) {
        let message = message.into();
        self.0.get_or_init(|| Loss { reason, message });
    }

    /// What happened, if the device was lost.
    pub fn loss(&self) -> Option<&Loss> {
        self.0.get()
    }
}
