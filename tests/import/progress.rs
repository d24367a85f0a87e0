use std::cell::RefCell;

use sinew::{
    Model,
    import::{ImportOptions, Stage},
};

use crate::glb::Glb;

/// The stages that a load went through.
fn stages(glb: &Glb) -> Vec<(Stage, usize, usize)> {
    let seen = RefCell::new(Vec::new());
    let tell = |p: sinew::import::Progress| seen.borrow_mut().push((p.stage, p.done, p.of));
    let options = ImportOptions { progress: Some(&tell), ..Default::default() };
    drop(Model::from_bytes(&glb.to_bytes(), &options));
    seen.into_inner()
}

#[test]
fn a_load_tells_every_stage_once_and_in_order() {
    let seen: Vec<Stage> = stages(&Glb::triangle()).into_iter().map(|(stage, ..)| stage).collect();
    assert_eq!(seen, Stage::ALL);
}

#[test]
fn meshes_are_counted() {
    let mut glb = Glb::triangle();
    let mesh = glb.json["meshes"][0].clone();
    glb.json["meshes"] = vec![mesh; 3].into();
    let seen = stages(&glb);
    let meshes: Vec<_> = seen.iter().filter(|(stage, ..)| *stage == Stage::Meshes).collect();
    assert_eq!(meshes, [&(Stage::Meshes, 0, 3), &(Stage::Meshes, 1, 3), &(Stage::Meshes, 2, 3)]);
}

#[test]
fn a_refused_file_ends_at_its_stage() {
    let mut glb = Glb::triangle();
    glb.json["skins"][0]["inverseBindMatrices"] = 0.into();
    assert_eq!(stages(&glb).last().unwrap().0, Stage::Skins);
    glb.json["asset"]["version"] = "1.0".into();
    assert_eq!(stages(&glb).last().unwrap().0, Stage::Json);
}
