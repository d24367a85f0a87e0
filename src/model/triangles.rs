use super::{Primitive, Topology};

impl Primitive {
    /// How many triangles its indices form; none of points and lines. What is left over at the end forms none.
    #[must_use]
    pub fn triangle_count(&self) -> usize {
        match self.topology() {
            Topology::Triangles => self.indices().len() / 3,
            Topology::TriangleStrip => self.indices().len().saturating_sub(2),
            Topology::Points | Topology::Lines | Topology::LineStrip => 0,
        }
    }

    /// The deformed vertices of a triangle, counter-clockwise in front. Triangle `t` of a list has the indices from
    /// `3 * t` on, that of a strip those from `t` on, the first two exchanged where `t` is odd. `None` past the last.
    #[must_use]
    pub fn triangle(&self, triangle: usize) -> Option<[u32; 3]> {
        if triangle >= self.triangle_count() {
            return None;
        }
        let corners = match self.topology() {
            Topology::TriangleStrip => strip_corners(triangle),
            _ => [0, 1, 2].map(|corner| 3 * triangle + corner),
        };
        Some(corners.map(|corner| self.indices()[corner]))
    }

    /// All triangles, in order.
    pub fn triangles(&self) -> impl ExactSizeIterator<Item = [u32; 3]> + '_ {
        (0..self.triangle_count()).map(|triangle| self.triangle(triangle).unwrap_or_default())
    }
}

/// Which indices of a strip form a triangle, in the winding of the first.
pub(super) fn strip_corners(triangle: usize) -> [usize; 3] {
    let odd = triangle % 2;
    [triangle + odd, triangle + 1 - odd, triangle + 2]
}
