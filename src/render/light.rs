use glam::Vec3;

use super::Camera;

/// One distant light, and light from everywhere. Colours are linear: what a white surface reflects.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Light {
    /// Towards the light; any length.
    pub direction: Vec3,
    /// On a surface that faces the light.
    pub color: Vec3,
    /// On a surface that faces up.
    pub sky: Vec3,
    /// On a surface that faces down.
    pub ground: Vec3,
}

impl Light {
    /// A key light from the camera's upper left and a bright, even surrounding: faces that look at the
    /// camera are lit from the front, and nothing is black.
    #[must_use]
    pub fn studio(camera: &Camera) -> Self {
        let toward_camera = camera.view().inverse();
        let direction = toward_camera.transform_vector3(Vec3::new(-0.45, 0.65, 0.75));
        Self {
            direction,
            color: Vec3::new(0.66, 0.63, 0.58),
            sky: Vec3::new(0.54, 0.56, 0.60),
            ground: Vec3::new(0.36, 0.34, 0.33),
        }
    }
}

impl Default for Light {
    fn default() -> Self {
        Self::studio(&Camera::default())
    }
}
