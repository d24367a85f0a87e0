use std::error::Error;

use glam::{DAffine3, DQuat, DVec3, Quat};

use super::{Chain, Link, Target, chain::check_blend, error::IkError, rotation::turned};
use crate::{
    animate::{
        Modifier, Posed,
        exact::{ExactLocal, about, angle_between, axis_between, direction, rotation_of},
        math::slerp,
    },
    model::{Model, Skeleton},
};

/// Cyclic coordinate descent: one link after another turns the effector towards the target, as often as is said.
///
/// The arithmetic of three.js's `CCDIKSolver`, step for step: in the link's own space, found from its decomposed
/// matrix, the turn of the direction of the effector into that of the target; left out if under 1e-5 radians; no smaller than the chain's least angle and no larger than its largest;
/// then the link's axis, then its bounds; then the matrices of everything below. Where the effector or the target is
/// on the link itself, three.js has no direction to turn; here the link stays. Where they are on opposite sides, it has
/// no axis; here that is any one.
#[derive(Clone, Debug)]
pub struct Ccd {
    chains: Vec<Solver>,
    blend: f32,
}

/// A chain with what it is solved with.
#[derive(Clone, Debug)]
struct Solver {
    chain: Chain,
    /// From the highest link to the effector.
    nodes: Vec<Joint>,
    /// Where in `nodes` each link is.
    links: Vec<usize>,
}

#[derive(Clone, Copy, Debug)]
struct Joint {
    node: u32,
    local: ExactLocal,
    world: DAffine3,
    /// As it was when solving began.
    initial: Quat,
    has_turned: bool,
}

impl Ccd {
    /// A solver of some chains, one after another.
    ///
    /// Fails where a node does not exist, a link is not above its effector, a blend is not within 0 to 1, a link's axis
    /// has no direction or nothing is within its bounds.
    pub fn new(skeleton: &Skeleton, chains: impl IntoIterator<Item = Chain>) -> Result<Self, IkError> {
        let solver = |chain: Chain| {
            let nodes = chain.check(skeleton)?;
            let place = |link: &Link| nodes.iter().position(|node| *node == link.node);
            let links = chain.links.iter().filter_map(place).collect();
            Ok(Solver { nodes: nodes.into_iter().map(Joint::new).collect(), chain, links })
        };
        let chains = chains.into_iter().map(solver).collect::<Result<_, _>>()?;
        Ok(Self { chains, blend: 1.0 })
    }

    /// The chains in the order in which they are solved.
    pub fn chains(&self) -> impl ExactSizeIterator<Item = &Chain> {
        self.chains.iter().map(|solver| &solver.chain)
    }

    /// How much of what chains without a blend of their own do is taken, 0 to 1; 1 at first.
    pub fn set_blend(&mut self, blend: f32) -> Result<(), IkError> {
        check_blend(blend)?;
        self.blend = blend;
        Ok(())
    }

    /// The same of one chain, whose own blend wins; `None` for that of the solver.
    pub fn set_chain_blend(&mut self, chain: usize, blend: Option<f32>) -> Result<(), IkError> {
        blend.map_or(Ok(()), check_blend)?;
        self.chain_mut(chain)?.blend = blend;
        Ok(())
    }

    /// What a chain's effector reaches for.
    pub fn set_target(&mut self, chain: usize, target: Target) -> Result<(), IkError> {
        self.chain_mut(chain)?.target = target;
        Ok(())
    }

    /// How often the links of a chain turn.
    pub fn set_iterations(&mut self, chain: usize, iterations: u32) -> Result<(), IkError> {
        self.chain_mut(chain)?.iterations = iterations;
        Ok(())
    }

    /// Whether a chain is solved when the solver runs.
    pub fn enable_chain(&mut self, chain: usize, enabled: bool) -> Result<(), IkError> {
        self.chain_mut(chain)?.enabled = enabled;
        Ok(())
    }

    /// Whether a link turns.
    pub fn enable_link(&mut self, chain: usize, link: usize, enabled: bool) -> Result<(), IkError> {
        let links = &mut self.chain_mut(chain)?.links;
        let count = links.len();
        let found = links.get_mut(link).ok_or(IkError::UnknownLink { chain, link, links: count })?;
        found.enabled = enabled;
        Ok(())
    }

    fn chain_mut(&mut self, chain: usize) -> Result<&mut Chain, IkError> {
        let chains = self.chains.len();
        let found = self.chains.get_mut(chain).ok_or(IkError::UnknownChain { chain, chains })?;
        Ok(&mut found.chain)
    }

    /// Solves one chain, enabled or not, for modifiers that are made of several.
    pub fn solve(&mut self, chain: usize, posed: &mut Posed<'_>) -> Result<(), IkError> {
        let (chains, blend) = (self.chains.len(), self.blend);
        let solver = self.chains.get_mut(chain).ok_or(IkError::UnknownChain { chain, chains })?;
        solver.solve(solver.chain.blend.unwrap_or(blend), posed);
        Ok(())
    }
}

impl Modifier for Ccd {
    /// Solves all chains that are enabled.
    fn apply(&mut self, posed: &mut Posed<'_>) {
        for solver in self.chains.iter_mut().filter(|solver| solver.chain.enabled) {
            solver.solve(solver.chain.blend.unwrap_or(self.blend), posed);
        }
    }

    fn check(&self, model: &Model) -> Result<(), Box<dyn Error + Send + Sync>> {
        for Solver { chain, nodes, .. } in &self.chains {
            let found = chain.check(model.skeleton())?;
            if !found.iter().eq(nodes.iter().map(|joint| &joint.node)) {
                return Err("it was made for another skeleton".into());
            }
        }
        Ok(())
    }
}

impl Joint {
    fn new(node: u32) -> Self {
        Self {
            node,
            local: ExactLocal::IDENTITY,
            world: DAffine3::IDENTITY,
            initial: Quat::IDENTITY,
            has_turned: false,
        }
    }

    fn read(&mut self, posed: &Posed<'_>) {
        let local = posed.local(self.node);
        self.local = local.into();
        self.initial = local.rotation;
        self.has_turned = false;
    }
}

impl Solver {
    fn solve(&mut self, blend: f32, posed: &mut Posed<'_>) {
        let Some(&Joint { node: highest, .. }) = self.nodes.first() else { return };
        let Some(target) = self.chain.target.position(posed) else { return };
        let above = posed.exact_parent(highest);
        self.nodes.iter_mut().for_each(|joint| joint.read(posed));
        place_from(&mut self.nodes, 0, above);
        for _ in 0..self.chain.iterations {
            if !self.turn_all(target, above) {
                break;
            }
        }
        for joint in self.nodes.iter().filter(|joint| joint.has_turned && joint.local.rotation.is_finite()) {
            let solved = joint.local.rotation.as_quat();
            let mixed = if blend < 1.0 { slerp(joint.initial, solved, blend) } else { solved };
            posed.set_rotation(joint.node, mixed);
        }
    }

    /// An iteration; whether any link has turned.
    fn turn_all(&mut self, target: DVec3, above: DAffine3) -> bool {
        let mut any = false;
        for (link, &place) in self.chain.links.iter().zip(&self.links) {
            if !link.enabled {
                break;
            }
            let effector = self.nodes[self.nodes.len() - 1].world.translation;
            let (min, max) = (self.chain.min_angle, self.chain.max_angle);
            let Some(turn) = turn(&self.nodes[place].world, effector, target, min, max) else { continue };
            let joint = &mut self.nodes[place];
            joint.local.rotation = limited(link, joint.local.rotation * turn);
            (joint.has_turned, any) = (true, true);
            place_from(&mut self.nodes, place, above);
        }
        any
    }
}

/// Matrices of a joint and what is below it, under what the highest hangs on.
fn place_from(joints: &mut [Joint], first: usize, above: DAffine3) {
    let mut world = first.checked_sub(1).map_or(above, |parent| joints[parent].world);
    for joint in &mut joints[first..] {
        joint.world = world * joint.local.matrix();
        world = joint.world;
    }
}

/// How a link turns, in its own space; `None` where there is nothing to turn.
fn turn(
    link: &DAffine3,
    effector: DVec3,
    target: DVec3,
    min: Option<f32>,
    max: Option<f32>,
) -> Option<DQuat> {
    let back = rotation_of(&link.matrix3).conjugate();
    let from = direction(turned(back, effector - link.translation))?;
    let to = direction(turned(back, target - link.translation))?;
    let angle = angle_between(from, to);
    if angle < 1e-5 {
        return None;
    }
    let angle = min.map_or(angle, |min| angle.max(f64::from(min)));
    let angle = max.map_or(angle, |max| angle.min(f64::from(max)));
    Some(about(axis_between(from, to), angle))
}

/// A link's rotation within its limits.
fn limited(link: &Link, rotation: DQuat) -> DQuat {
    let mut rotation = rotation;
    if let Some(axis) = link.axis.and_then(|axis| direction(axis.as_dvec3())) {
        // All of the angle about the axis, on the side where the rotation was.
        let cosine = rotation.w.clamp(-1.0, 1.0);
        let sine = (1.0 - cosine * cosine).sqrt();
        let sine = if rotation.xyz().dot(axis) < 0.0 { -sine } else { sine };
        rotation = DQuat::from_xyzw(axis.x * sine, axis.y * sine, axis.z * sine, cosine);
    }
    link.bounds.map_or(rotation, |bounds| bounds.bounded(rotation))
}
