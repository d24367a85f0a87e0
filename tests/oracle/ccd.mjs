// Cases for chains solved by cyclic coordinate descent, and what the CCDIKSolver of three.js makes of them.
import { Bone, Quaternion, Vector3 } from 'three';
import { CCDIKSolver } from 'three/addons/animation/CCDIKSolver.js';

// A small reproducible generator (mulberry32), 0 to 1.
let state = 20260101;
function random() {
	state = (state + 0x6d2b79f5) | 0;
	let t = Math.imul(state ^ (state >>> 15), 1 | state);
	t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
	return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
}
const within = (from, to) => from + (to - from) * random();
const f32 = (list) => list.map(Math.fround);

const turn = (x, y, z, angle) => {
	const q = new Quaternion().setFromAxisAngle(new Vector3(x, y, z).normalize(), angle);
	return [q.x, q.y, q.z, q.w];
};
const anyTurn = (angle) => turn(within(-1, 1), within(-1, 1), within(-1, 1), within(-angle, angle));

// A node: its parent (-1 for none), translation, rotation and scale, all numbers of f32.
const node = (parent, t, r = [0, 0, 0, 1], s = [1, 1, 1]) => ({ parent, t: f32(t), r: f32(r), s: f32(s) });

// `links` joints below each other, the effector below them, then the target on a root of its own.
function straight(links, target, angle = 0.15) {
	const nodes = [node(-1, [0.1, 0.2, -0.1], anyTurn(angle))];
	for (let i = 1; i <= links; i++) nodes.push(node(i - 1, [0, 1, 0], anyTurn(angle)));
	nodes.push(node(-1, target));
	const order = Array.from({ length: links }, (_, i) => links - 1 - i);
	return { nodes, effector: links, target: links + 1, order };
}

const cases = [];
function add(name, nodes, chains, more = {}) {
	cases.push({ name, nodes, chains, blend: 1, only: null, ...more });
}
// A straight chain in which every link has the same limits.
function limited(name, links, target, chain = {}, link = {}, more = {}) {
	const made = straight(links, target);
	const all = made.order.map((index) => ({ node: index, ...link }));
	add(name, made.nodes, [{ effector: made.effector, target: made.target, links: all, ...chain }], more);
}

limited('two links, once, in reach', 2, [0.9, 1.1, 0.4]);
limited('three links, ten times, in reach', 3, [-1.2, 1.0, 0.9], { iterations: 10 });
limited('three links, ten times, out of reach', 3, [5, 2, -3], { iterations: 10 });
limited('eight links, twenty times, in reach', 8, [2.5, -1.5, 3.0], { iterations: 20 });
limited('eight links, once, out of reach', 8, [-9, -9, 4]);
limited('a target close to the root', 4, [0.15, 0.3, 0.0], { iterations: 6 });
limited('no iteration', 3, [1, 1, 1], { iterations: 0 });
limited('a least angle', 3, [0.3, 3.0, 0.1], { iterations: 4, minAngle: 0.2 });
limited('a largest angle', 4, [2, 1, 2], { iterations: 5, maxAngle: 0.1 });
limited('a least angle above the largest', 3, [1.5, 1, 1], { iterations: 3, minAngle: 0.3, maxAngle: 0.2 });
limited('an axis', 3, [1.5, 1.2, 0.4], { iterations: 8 }, { axis: [0, 0, 1] });
limited('an axis and the other side', 3, [-1.5, 1.2, 0.4], { iterations: 8 }, { axis: [0, 0, 1] });
limited('an oblique axis', 4, [1.0, -0.5, 1.4], { iterations: 5 }, { axis: [0.6, 0, 0.8] });
for (const order of ['XYZ', 'YZX', 'ZXY', 'XZY', 'YXZ', 'ZYX']) {
	limited(`bounds in the order ${order}`, 3, [1.4, 0.6, 1.2], { iterations: 6 }, {
		order, min: [-0.4, -0.3, -0.5], max: [0.5, 0.6, 0.2],
	});
}
limited('lower bounds alone', 3, [-1.6, 0.4, 0.8], { iterations: 6 }, { order: 'ZYX', min: [-0.2, -0.1, -0.3] });
limited('upper bounds alone', 3, [-1.6, 0.4, 0.8], { iterations: 6 }, { order: 'YXZ', max: [0.2, 0.1, 0.3] });
limited('bounds across a half turn', 2, [0.4, -1.7, 0.3], { iterations: 8 }, {
	order: 'XYZ', min: [2.6, -0.5, -0.5], max: [3.9, 0.5, 0.5],
});
limited('an axis within bounds', 4, [2.2, 1.4, 0.1], { iterations: 7 }, {
	axis: [0, 0, 1], order: 'XYZ', min: [0, 0, -0.7], max: [0, 0, 0.1],
});
limited('the blend of the solver', 3, [1.5, 0.8, 1.0], { iterations: 5 }, {}, { blend: 0.3 });
limited('a blend of its own above that of the solver', 3, [1.5, 0.8, 1], { iterations: 5, blend: 0.75 }, {}, { blend: 0.1 });
limited('a blend of its own below that of the solver', 3, [1.5, 0.8, 1], { iterations: 5, blend: 0 }, {}, { blend: 1 });
limited('bounds and a blend', 5, [-2.0, 1.0, 1.5], { iterations: 4, blend: 0.6 }, {
	order: 'ZXY', min: [-0.3, -0.3, -0.3], max: [0.3, 0.3, 0.3],
});

for (const off of [0, 1, 2]) {
	const made = straight(4, [1.5, 1.5, 1.5]);
	const links = made.order.map((index, i) => ({ node: index, enabled: i !== off }));
	add(`link ${off} does not turn`, made.nodes, [{ ...made, links, iterations: 3 }]);
}
{
	// What is reached needs no turn, and one under 1e-5 is left out.
	const made = straight(3, [0, 0, 0], 0);
	const tip = [0.1, 3.2, -0.1];
	for (const [name, aside] of [['the target is reached', 0], ['a turn under 1e-5', 4e-6]]) {
		const nodes = [...made.nodes.slice(0, -1), node(-1, [tip[0] + aside, tip[1], tip[2]])];
		add(name, nodes, [{ ...made, links: made.order.map((index) => ({ node: index })), iterations: 3 }]);
	}
}
{
	const made = straight(6, [1.0, 2.5, 2.0]);
	add('links with joints between them', made.nodes, [{ ...made, links: [4, 2, 0].map((n) => ({ node: n })), iterations: 6 }]);
	add('links in another order', made.nodes, [{ ...made, links: [0, 3, 5, 1].map((n) => ({ node: n })), iterations: 4 }]);
	add('a link that comes twice', made.nodes, [{ ...made, links: [5, 4, 5].map((n) => ({ node: n })), iterations: 3 }]);
}
{
	// A trunk of three with an arm of three on each side, and targets: one apart, one that hangs on the trunk.
	const nodes = [node(-1, [0, 0.5, 0], anyTurn(0.2))];
	for (let i = 1; i < 3; i++) nodes.push(node(i - 1, [0, 0.6, 0], anyTurn(0.2)));
	for (const side of [1, -1]) {
		nodes.push(node(2, [0.3 * side, 0.1, 0], anyTurn(0.4)));
		for (let i = 0; i < 3; i++) nodes.push(node(nodes.length - 1, [0.5 * side, 0, 0.05], anyTurn(0.4)));
	}
	nodes.push(node(-1, [1.0, 2.0, 0.8]), node(1, [-0.6, 1.2, 0.7]));
	const arm = (first, target, more) => ({
		effector: first + 3, target, iterations: 5,
		links: [2, 1, 0].map((i) => ({ node: first + i })).concat([2, 1].map((n) => ({ node: n }))), ...more,
	});
	const both = [arm(3, 11, {}), arm(7, 12, { blend: 0.5 })];
	add('two chains with a trunk in common, all', nodes, both, { blend: 0.9 });
	add('two chains, the first alone', nodes, both, { only: 0 });
	add('two chains, the second alone', nodes, both, { only: 1 });
	add('a target below a link', nodes, [arm(7, 12, { iterations: 12 })]);
	add('a target on the other arm', nodes, [arm(3, 10, { iterations: 3 })]);
}
{
	// Forty levels, the chain at their end.
	const nodes = [node(-1, [0, 0, 0])];
	for (let i = 1; i < 40; i++) nodes.push(node(i - 1, [0, 0.1, 0], anyTurn(0.3)));
	nodes.push(node(20, [0.4, 0.2, 0.3]));
	const links = [38, 37, 36, 35, 34, 33, 32, 31].map((n) => ({ node: n }));
	add('a deep skeleton', nodes, [{ effector: 39, target: 40, links, iterations: 15 }]);
}
for (const [name, scale, parentScale] of [
	['even scales', [0.5, 0.5, 0.5], [2, 2, 2]],
	['uneven scales', [1, 1, 1], [1.5, 0.7, 1.2]],
	['uneven scales of links', [1.2, 0.9, 1.1], [1, 1, 1]],
	['a mirror', [1, 1, 1], [-1, 1, 1]],
	['mirrors and scales', [1, -1.1, 1], [0.8, 0.8, -1.3]],
]) {
	const nodes = [node(-1, [0.2, 0, 0.1], anyTurn(0.5), parentScale)];
	for (let i = 1; i <= 4; i++) nodes.push(node(i - 1, [0, 0.8, 0.1], anyTurn(0.4), i < 4 ? scale : [1, 1, 1]));
	nodes.push(node(-1, [0.9, 1.3, -0.8]));
	add(name, nodes, [{ effector: 4, target: 5, links: [3, 2, 1].map((n) => ({ node: n })), iterations: 4 }]);
}
for (let i = 0; i < 8; i++) {
	const links = 2 + Math.floor(random() * 7);
	const made = straight(links, [within(-3, 3), within(-3, 4), within(-3, 3)], 0.8);
	const orders = ['XYZ', 'YZX', 'ZXY', 'XZY', 'YXZ', 'ZYX'];
	const list = made.order.map((index) => {
		const kind = random();
		if (kind < 0.4) return { node: index };
		if (kind < 0.55) return { node: index, axis: [1, 0, 0] };
		const low = f32([within(-1, 0), within(-1, 0), within(-1, 0)]);
		const high = f32([within(0, 1), within(0, 1), within(0, 1)]);
		return { node: index, order: orders[Math.floor(random() * 6)], min: low, max: high };
	});
	add(`a mixture, ${i}`, made.nodes, [{
		...made, links: list, iterations: 1 + Math.floor(random() * 12), maxAngle: within(0.2, 2), blend: random() < 0.5 ? within(0, 1) : undefined,
	}], { blend: within(0.5, 1) });
}

function solved({ nodes, chains, blend, only }) {
	const bones = nodes.map(({ t, r, s }) => {
		const bone = new Bone();
		bone.position.fromArray(t);
		bone.scale.fromArray(s);
		return bone;
	});
	nodes.forEach(({ parent }, i) => parent >= 0 && bones[parent].add(bones[i]));
	const vector = (list) => list && new Vector3().fromArray(list);
	const iks = chains.map((chain) => ({
		effector: chain.effector, target: chain.target,
		iteration: chain.iterations, minAngle: chain.minAngle, maxAngle: chain.maxAngle, blendFactor: chain.blend,
		links: chain.links.map((link) => {
			if (link.order) bones[link.node].rotation.order = link.order;
			const limitation = vector(link.axis);
			return {
				index: link.node, enabled: link.enabled ?? true, limitation,
				rotationMin: vector(link.min), rotationMax: vector(link.max),
			};
		}),
	}));
	// After the orders, which change a rotation when they are set.
	nodes.forEach(({ r }, i) => bones[i].quaternion.fromArray(r));
	nodes.forEach(({ parent }, i) => parent < 0 && bones[i].updateMatrixWorld(true));
	const warn = console.warn;
	console.warn = () => {}; // Links with joints between them are meant.
	const solver = new CCDIKSolver({ skeleton: { bones } }, iks);
	console.warn = warn;
	if (only === null) solver.update(blend);
	else solver.updateOne(iks[only], blend);
	return bones.map(({ quaternion: { x, y, z, w } }) => [x, y, z, w].map((c) => +c.toFixed(10)));
}

const lines = cases.map((one) => {
	const chains = one.chains.map(({ effector, target, links, iterations, minAngle, maxAngle, blend }) => ({
		effector, target, links, iterations: iterations ?? 1,
		min_angle: minAngle && Math.fround(minAngle), max_angle: maxAngle && Math.fround(maxAngle),
		blend: blend === undefined ? undefined : Math.fround(blend),
	}));
	for (const [chain, out] of one.chains.map((chain, i) => [chain, chains[i]])) {
		Object.assign(chain, { minAngle: out.min_angle, maxAngle: out.max_angle, blend: out.blend });
		for (const link of chain.links) for (const key of ['axis', 'min', 'max']) if (link[key]) link[key] = f32(link[key]);
		for (const link of chain.links) if (link.axis) link.axis = new Vector3().fromArray(link.axis).normalize().toArray();
	}
	one.blend = Math.fround(one.blend);
	const nodes = one.nodes.map(({ parent, t, r, s }) => [parent, ...t, ...r, ...s]);
	return JSON.stringify({ name: one.name, nodes, chains, blend: one.blend, only: one.only, rotations: solved(one) });
});
console.log(`[\n${lines.join(',\n')}\n]`);
