//! The example runs and does what it says.

#[path = "../../examples/own_modifier.rs"]
#[allow(dead_code, unreachable_pub, reason = "a program of its own; its main is not used here")]
mod own_modifier;

#[test]
fn the_feet_of_the_example_follow_the_ground() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/assets/mascot.glb");
    let [without, with] = own_modifier::furthest(path, "walk").unwrap();
    assert!(without > 0.035 && with < 1e-4, "{without} m without the modifier, {with} m with it");
}
