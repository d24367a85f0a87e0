use std::fs;

use crate::{
    failure::Failure,
    gpu::{AdapterName, adapters, wanted_limits},
    ui::Ui,
};

/// Say which adapters there are, what they can do, and what to install if something is missing
#[derive(Debug, clap::Args)]
pub(crate) struct Args {}

pub(crate) fn run(_: &Args, ui: &Ui) -> Result<(), Failure> {
    ui.result(format_args!("sinew {} on {}", env!("CARGO_PKG_VERSION"), system()))?;
    let found = adapters();
    let mut usable = 0;
    for adapter in &found {
        let problems = problems(adapter);
        usable += usize::from(problems.is_empty());
        report(ui, adapter, &problems)?;
    }
    if usable > 0 {
        ui.result(format_args!("ok: {usable} of {} adapters can be used", found.len()))?;
        return Ok(());
    }
    let what = if found.is_empty() { "no graphics adapter answers" } else { "no adapter can be used" };
    Err(Failure::new(what).help(hint()))
}

fn report(ui: &Ui, adapter: &wgpu::Adapter, problems: &[String]) -> Result<(), Failure> {
    let (info, limits) = (adapter.get_info(), adapter.limits());
    let driver = [info.driver.as_str(), info.driver_info.as_str()].join(" ");
    ui.result(format_args!("{}", AdapterName(info)))?;
    ui.result(format_args!("  driver          {}", driver.trim()))?;
    let timestamps = adapter.features().contains(wgpu::Features::TIMESTAMP_QUERY);
    ui.result(format_args!(
        "  GPU times       {}",
        if timestamps { "yes" } else { "no, traces show the CPU only" }
    ))?;
    let mib = |bytes: u64| format!("{} MiB", bytes >> 20);
    ui.result(format_args!("  buffer          {}", mib(limits.max_buffer_size)))?;
    ui.result(format_args!("  storage binding {}", mib(limits.max_storage_buffer_binding_size)))?;
    ui.result(format_args!("  offsets at      {} bytes", limits.min_storage_buffer_offset_alignment))?;
    ui.result(format_args!("  texture         {} along a side", limits.max_texture_dimension_2d))?;
    match problems {
        [] => ui.result("  usable          yes"),
        _ => ui.result(format_args!("  usable          no: {}", problems.join("; "))),
    }
}

/// What keeps a device from being opened: limits below WebGPU's defaults.
fn problems(adapter: &wgpu::Adapter) -> Vec<String> {
    let mut problems = Vec::new();
    let (wanted, allowed) = (wanted_limits(adapter), adapter.limits());
    wanted.check_limits_with_fail_fn(&allowed, false, |name, wanted, allowed| {
        problems.push(format!("{name} is {allowed}, {wanted} is needed"));
    });
    problems
}

fn system() -> String {
    format!("{} {}", std::env::consts::OS, std::env::consts::ARCH)
}

/// How to get a driver on this system.
fn hint() -> String {
    match std::env::consts::OS {
        "linux" => linux_hint(&fs::read_to_string("/etc/os-release").unwrap_or_default()),
        "macos" => "Metal comes with macOS 10.13 or later; update the system".into(),
        "windows" => "install your graphics card's driver; Direct3D 12 comes with Windows 10 or later".into(),
        _ => "install a driver for Vulkan".into(),
    }
}

/// The command that installs Mesa's Vulkan drivers, software ones included.
fn linux_hint(os_release: &str) -> String {
    let value = |key: &str| {
        let line = os_release.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix('='));
        line.map(|v| v.trim_matches('"').to_owned()).unwrap_or_default()
    };
    let ids = format!("{} {}", value("ID"), value("ID_LIKE"));
    let is = |id: &str| ids.split_whitespace().any(|word| word == id);
    let command = if is("debian") || is("ubuntu") {
        "sudo apt-get install mesa-vulkan-drivers"
    } else if is("fedora") || is("rhel") {
        "sudo dnf install mesa-vulkan-drivers"
    } else if is("arch") {
        "sudo pacman -S vulkan-swrast (and vulkan-radeon, vulkan-intel or nvidia-utils for a GPU)"
    } else if is("suse") || is("opensuse") {
        "sudo zypper install libvulkan_lvp"
    } else if is("alpine") {
        "sudo apk add mesa-vulkan-swrast"
    } else {
        return "install a Vulkan driver; Mesa's lavapipe needs no GPU".into();
    };
    format!("run {command}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hint_is_the_command_of_the_distribution() {
        let command = |text| linux_hint(text);
        assert_eq!(command("ID=debian\n"), "run sudo apt-get install mesa-vulkan-drivers");
        assert_eq!(command("ID=linuxmint\nID_LIKE=\"ubuntu debian\"\n"), command("ID=ubuntu"));
        assert_eq!(command("ID=fedora"), "run sudo dnf install mesa-vulkan-drivers");
        assert!(command("ID=manjaro\nID_LIKE=arch").starts_with("run sudo pacman -S"));
        assert!(command("").starts_with("install a Vulkan driver"));
    }
}
