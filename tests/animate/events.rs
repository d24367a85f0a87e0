//! Events over any stretch of time.

use super::*;

/// What a player of `mode` passes in steps of `step`, as (position in hundredths, name).
fn passed(mode: LoopMode, start: f64, step: f64, steps: usize) -> Vec<(i64, &'static str)> {
    let events = Events::new(1.0, [(1.0, "end"), (0.0, "start"), (0.25, "a"), (0.75, "b")]).unwrap();
    let mut stage = Stage::new();
    let player = stage.animator.play(stage.id, 0).unwrap();
    player.set_mode(mode);
    player.seek(start);
    let mut seen = Vec::new();
    for _ in 0..steps {
        player.advance(step);
        seen.extend(events.passed(player).map(|(at, name)| ((at * 100.0).round() as i64, *name)));
    }
    seen
}

#[test]
fn events_of_a_looping_clip_happen_once_a_round_at_any_step() {
    let expected = [
        (0, "start"),
        (25, "a"),
        (75, "b"),
        (100, "end"),
        (100, "start"),
        (125, "a"),
        (175, "b"),
        (200, "end"),
        (200, "start"),
    ];
    for steps in [1, 2, 3, 7, 16, 100] {
        // Sums of binary fractions, so that both ends are met exactly.
        let step = if steps == 100 { 2.0 / 128.0 } else { 2.0 / steps as f64 };
        let count = if steps == 100 { 128 } else { steps };
        let seen = passed(LoopMode::Repeat, 0.0, step, count);
        if [1, 2, 16, 100].contains(&steps) {
            assert_eq!(seen, expected, "{steps} steps");
        } else {
            assert_eq!(seen[..7], expected[..7], "{steps} steps");
        }
    }
}

#[test]
fn events_happen_backwards_in_the_order_they_are_passed() {
    let seen = passed(LoopMode::Repeat, 0.5, -0.5, 3);
    assert_eq!(
        seen,
        [(25, "a"), (0, "start"), (0, "end"), (-25, "b"), (-75, "a"), (-100, "start"), (-100, "end")]
    );
}

#[test]
fn a_clip_that_turns_around_passes_its_ends_once() {
    let seen = passed(LoopMode::PingPong, 0.0, 0.5, 5);
    let names: Vec<_> = seen.iter().map(|event| event.1).collect();
    assert_eq!(names, ["start", "a", "b", "end", "b", "a", "start", "a"]);
}

#[test]
fn a_clip_played_once_passes_each_event_once_and_stays() {
    let seen = passed(LoopMode::Once, 0.0, 0.6, 4);
    assert_eq!(seen, [(0, "start"), (25, "a"), (75, "b"), (100, "end")]);
}

#[test]
fn a_seek_passes_nothing_but_what_lies_where_it_led() {
    let events = Events::new(1.0, [(0.25, "a"), (0.5, "b"), (0.75, "c")]).unwrap();
    let mut stage = Stage::new();
    let player = stage.animator.play(stage.id, 0).unwrap();
    player.advance(0.3);
    player.seek(0.5);
    assert_eq!(events.passed(player).map(|event| *event.1).collect::<Vec<_>>(), ["b"]);
    player.advance(0.1);
    player.advance(0.0);
    assert_eq!(events.passed(player).count(), 0);
}

#[test]
fn an_event_outside_its_clip_is_refused() {
    for time in [-0.1, 1.1, f64::NAN, f64::INFINITY] {
        assert!(Events::new(1.0, [(0.5, ()), (time, ())]).is_err());
    }
    let error = Events::new(1.0, [(0.5, ()), (1.5, ())]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "event 1 is at 1.5 seconds; events are at finite times from 0 to the clip's 1"
    );
}

#[test]
fn a_clip_without_duration_or_events_ends_the_search() {
    let travel = Travel { from: 0.0, to: 1e18, with_start: true };
    let none: Events<()> = Events::new(1.0, []).unwrap();
    assert_eq!(none.over(travel, LoopMode::Repeat, 1.0).count(), 0);
    let one = Events::new(0.0, [(0.0, ())]).unwrap();
    assert_eq!(one.over(travel, LoopMode::Repeat, 0.0).count(), 1);
}
