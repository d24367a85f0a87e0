//! The `sinew` program: pictures, numbers and facts about animated glTF files.

mod bake;
mod clip;
mod doctor;
mod encode;
mod engine;
mod failure;
mod fix;
mod glb;
mod gpu;
mod graph;
mod inspect;
mod load;
mod oracle;
mod output;
mod pick;
mod playing;
mod posed;
mod render;
mod replay;
mod retarget;
mod retarget_map;
mod skinning;
mod stage;
mod timeline;
mod trace;
mod ui;
mod wait;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use ui::Ui;

/// Animated glTF characters: inspect, fix, render, bake, pick, retarget, replay.
#[derive(Debug, Parser)]
#[command(name = "sinew", version, about, arg_required_else_help = true)]
struct Cli {
    /// Print no notes and no progress, only what was asked for and errors
    #[arg(long, short, global = true)]
    quiet: bool,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Inspect(inspect::Args),
    Fix(fix::Args),
    Render(render::Args),
    Bake(bake::Args),
    Retarget(retarget::Args),
    Pick(pick::Args),
    Replay(replay::Args),
    Graph(graph::Args),
    Doctor(doctor::Args),
}

fn main() -> ExitCode {
    // Prints help and usage errors itself; the latter exit with 2.
    let cli = Cli::parse();
    let ui = Ui::new(cli.quiet);
    let result = match &cli.command {
        Command::Inspect(args) => inspect::run(args, &ui),
        Command::Fix(args) => fix::run(args, &ui),
        Command::Render(args) => render::run(args, &ui),
        Command::Bake(args) => bake::run(args, &ui),
        Command::Retarget(args) => retarget::run(args, &ui),
        Command::Pick(args) => pick::run(args, &ui),
        Command::Replay(args) => replay::run(args, &ui),
        Command::Graph(args) => graph::run(args, &ui),
        Command::Doctor(args) => doctor::run(args, &ui),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            ui.fail(&failure);
            ExitCode::from(failure.code())
        }
    }
}
