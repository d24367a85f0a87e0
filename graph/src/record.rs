use crate::runtime::{Host, Resources};

/// The closure that records one pass, boxed once when the pass is declared.
pub(crate) enum Record<F> {
    Host(Box<dyn HostRecord<F>>),
    Compute(Box<dyn ComputeRecord<F>>),
    Raster(Box<dyn RasterRecord<F>>),
    Transfer(Box<dyn TransferRecord<F>>),
}

// `dyn FnMut(..) + WasmNotSend` is not a type, so each signature is a trait with that bound.
macro_rules! record_trait {
    ($name:ident, ($($argument:ident: $type:ty),*)) => {
        pub(crate) trait $name<F>: wgpu::WasmNotSend {
            fn record(&mut self, $($argument: $type),*);
        }

        impl<F, R: FnMut($($type),*) + wgpu::WasmNotSend> $name<F> for R {
            fn record(&mut self, $($argument: $type),*) {
                self($($argument),*);
            }
        }
    };
}

record_trait!(HostRecord, (host: &mut Host<'_>, frame: &mut F));
record_trait!(ComputeRecord, (pass: &mut wgpu::ComputePass<'_>, resources: &Resources<'_>, frame: &F));
record_trait!(RasterRecord, (pass: &mut wgpu::RenderPass<'_>, resources: &Resources<'_>, frame: &F));
record_trait!(TransferRecord, (encoder: &mut wgpu::CommandEncoder, resources: &Resources<'_>, frame: &F));
