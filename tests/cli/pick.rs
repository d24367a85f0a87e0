//! `sinew pick`: what it says.

use super::{folder, sinew, triangle};

#[test]
fn pick_prints_the_hit_and_ends_with_3_where_there_is_none() {
    let folder = folder("pick");
    let file = triangle(&folder);
    let pick = |ray: &str, more: &[&str]| {
        sinew(&[&["-q", "pick", &file, "--clip", "slide", "--time", "1", "--ray", ray], more].concat())
    };
    let said = pick("1.25,0.5,2,0,0,-1", &["--json"]);
    assert_eq!((said.code, said.error.as_str()), (0, ""));
    let hit: serde_json::Value = serde_json::from_str(&said.stdout).unwrap();
    assert_eq!(hit["distance"], 2.0);
    assert_eq!(hit["position"], serde_json::json!([1.25, 0.5, 0.0]));
    assert_eq!(hit["barycentrics"], serde_json::json!([0.25, 0.25, 0.5]));
    assert_eq!(
        (&hit["triangle"], &hit["vertices"], &hit["front"]),
        (&0.into(), &serde_json::json!([0, 1, 2]), &true.into())
    );
    let said = pick("1.25,0.5,2,0,0,-1", &[]);
    assert!(said.stdout.starts_with("hit after 2 m, front\n  position 1.25 0.5 0\n"), "{}", said.stdout);
    // Where the triangle is at rest.
    let said = pick("0.25,0.5,2,0,0,-1", &["--json"]);
    assert_eq!((said.code, said.stdout.as_str()), (3, "null\n"));
    assert_eq!(said.error, "error: the ray hits nothing");
    assert_eq!(pick("1.25,0.5,-2,0,0,1", &["--sides", "front"]).code, 3);
    assert_eq!(pick("1.25,0.5,-2,0,0,1", &[]).code, 0);
    for ray in ["1,2,3", "0,0,0,0,0,0", "0,0,NaN,0,0,1", "a,b,c,d,e,f"] {
        assert_eq!(pick(ray, &[]).code, 2, "{ray}");
    }
}
