// Poses and clips from three.js's SkeletonUtils, for tests/retarget.
import { writeFileSync } from 'node:fs';
import {
	AnimationClip, Bone, BufferGeometry, Matrix4, Object3D, Quaternion, QuaternionKeyframeTrack, Scene, Skeleton,
	SkinnedMesh, Vector3, VectorKeyframeTrack
} from 'three';
import { retarget, retargetClip } from 'three/addons/utils/SkeletonUtils.js';

// xorshift, so that every run writes the same file.
let state = 0x2545f491;
function random() {
	state ^= state << 13; state ^= state >>> 17; state ^= state << 5;
	return (state >>> 0) / 2 ** 32 * 2 - 1;
}
const f32 = (list) => list.map(Math.fround);
const vector = (size) => f32([random() * size, random() * size, random() * size]);
function rotation(size = 1) {
	const q = new Quaternion(random() * size, random() * size, random() * size, 1).normalize();
	return f32(q.toArray());
}

// A node: [name, parent, translation, rotation, scale].
const node = (name, parent, t = [0, 0, 0], r = [0, 0, 0, 1], s = [1, 1, 1]) => [name, parent, f32(t), r, f32(s)];

// The usual joints below `hip`, whose own node comes first; rests are turned by up to `twist`.
function limbs(hip, names, twist) {
	const at = (name, parent, t) => node(names(name), parent, f32(t).map((c) => Math.fround(c + random() * 0.02)), rotation(twist));
	return [
		at('spine', hip, [0, 0.3, 0]), at('head', hip + 1, [0, 0.4, 0.05]),
		at('arm_l', hip + 1, [0.2, 0.3, 0]), at('hand_l', hip + 3, [0.3, 0, 0]),
		at('arm_r', hip + 1, [-0.2, 0.3, 0]), at('hand_r', hip + 5, [-0.3, 0, 0]),
		at('leg_l', hip, [0.1, -0.1, 0]), at('foot_l', hip + 7, [0, -0.5, 0])
	];
}
const same = (name) => name;
const other = (name) => 'T_' + name;
const range = (from, to) => Array.from({ length: to - from }, (_, i) => from + i);

const bodies = {};
function body(name, nodes, joints, mesh, extra = {}) {
	bodies[name] = { nodes, joints, mesh, ...extra };
}
const turn = rotation(0.6);

// Sources.
body('plain', [node('rig', null), node('hip', 0, [0, 1, 0], rotation(0.2)), ...limbs(1, same, 0.2), node('mesh', null)],
	range(1, 10), 10);
body('scaled', [node('rig', null, [0.3, 0, -0.2], rotation(0.4), [0.01, 0.01, 0.01]),
	node('hip', 0, [0, 100, 0], rotation(0.2), [100, 100, 100]), ...limbs(1, same, 0.3), node('mesh', 0, [3, 4, 5])],
	range(1, 10), 10);
// Of clips: retargetClip renews only what is below the mesh, and would else read joints of the frame before.
body('walker', [node('mesh', null), node('hip', 0, [0, 1, 0], rotation(0.2)), ...limbs(1, same, 0.2)], range(1, 10), 0);

// Targets. All but `posed` rest where they are bound.
const tall = (parent) => node('T_hip', parent, [0.1, 1.7, 0], rotation(0.8));
body('siblings', [node('rig', null), tall(0), ...limbs(1, other, 0.8), node('mesh', null, [0.5, 0.25, -1], turn)],
	range(1, 10), 10);
body('children', [node('mesh', null, [0.5, 0.25, -1], turn, [2, 2, 2]), tall(0), ...limbs(1, other, 0.8)],
	range(1, 10), 0);
// Feet before legs, hands before arms, the hip last.
body('shuffled', [node('rig', null, [0, 0.1, 0], turn), tall(0), ...limbs(1, other, 0.8), node('mesh', 0, [1, 0, 0])],
	[9, 5, 3, 8, 4, 2, 7, 6, 1], 10);
// A tail, a joint between, and a plain node between.
{
	const nodes = [node('rig', null), tall(0), ...limbs(1, other, 0.5), node('mesh', null, [0, 1, 0])];
	nodes.push(node('tail', 1, [0, 0, -0.3], rotation()), node('tail tip', 11, [0, 0, -0.3], rotation()));
	nodes.push(node('twist', 4, [0.15, 0, 0], rotation(0.3)), node('group', 2, [0, 0.1, 0], rotation(0.3)));
	nodes[5][1] = 13;
	nodes[3][1] = 14;
	body('extra', nodes, [1, 2, 3, 4, 13, 5, 6, 7, 8, 9, 11, 12], 10);
}
body('small', [node('rig', null, [0, 0, 0], turn, [0.01, 0.01, 0.01]), node('T_hip', 0, [0, 60, 0], rotation(0.5)),
	...limbs(1, other, 0.5).map((n) => { n[2] = f32(n[2].map((c) => c * 100)); return n; }),
	node('mesh', 0, [20, 0, 10], rotation(0.3), [50, 50, 50])], range(1, 10), 10);
body('uneven', [node('rig', null, [0, 0, 0], turn, [1, 1.5, 0.75]), tall(0), ...limbs(1, other, 0.5),
	node('mesh', null, [0, 0, 0], rotation(0.5), [1, 2, 1])], range(1, 10), 10);
body('mirrored', [node('rig', null, [0, 0, 0], turn, [-1, 1, 1]), tall(0), ...limbs(1, other, 0.5),
	node('mesh', null, [0, 0, 0], rotation(0.5), [1, 1, -1])], range(1, 10), 10);
body('posed', [node('rig', null), tall(0), ...limbs(1, other, 0.5), node('mesh', null, [0, 0, 0], turn)],
	range(1, 10), 10, { posed: true });
// The mesh hangs on one of its joints.
body('carried', [node('rig', null), tall(0), ...limbs(1, other, 0.5), node('mesh', 2, [0.2, 0, 0], turn)],
	range(1, 10), 10);
// The arms of a skin whose shoulders belong to another one.
body('split', [node('rig', null, [0, 0.2, 0], turn), tall(0), ...limbs(1, other, 0.5), node('mesh', null, [0, 0, 0], turn)],
	[4, 5, 6, 7], 10, { others: [1, 2, 3, 8, 9] });

function build(body, pose) {
	const isBone = new Set([...body.joints, ...(body.others ?? [])]);
	const objects = body.nodes.map(([name], i) => {
		const object = i === body.mesh ? new SkinnedMesh(new BufferGeometry()) : isBone.has(i) ? new Bone() : new Object3D();
		object.name = name;
		return object;
	});
	const scene = new Scene();
	body.nodes.forEach(([, parent], i) => (parent === null ? scene : objects[parent]).add(objects[i]));
	const put = (list) => list.forEach(([t, r, s], i) => {
		objects[i].position.fromArray(t);
		objects[i].quaternion.fromArray(r);
		objects[i].scale.fromArray(s);
	});
	put(body.nodes.map((n) => n.slice(2)));
	scene.updateMatrixWorld(true);
	body.binds ??= body.joints.map((joint) => {
		const world = objects[joint].matrixWorld.clone();
		if (body.posed) world.multiply(new Matrix4().compose(new Vector3(...vector(0.1)), new Quaternion(...rotation(0.4)), new Vector3(1, 1, 1)));
		const inverse = world.invert().elements;
		return f32(inverse.map((e, i) => (i % 4 === 3 ? (i === 15 ? 1 : 0) : e)));
	});
	const skeleton = new Skeleton(body.joints.map((joint) => objects[joint]), body.binds.map((m) => new Matrix4().fromArray(m)));
	const mesh = objects[body.mesh];
	mesh.bind(skeleton, new Matrix4());
	if (pose) put(pose);
	scene.updateMatrixWorld(true);
	return { mesh, skeleton };
}

const digits = (list) => list.map((number) => Number(number.toPrecision(9)));

// Every joint of a body turned and moved at random.
const posed = (name) => bodies[name].nodes.map(([, , t, r, s], i) => (!bodies[name].joints.includes(i) ? [t, r, s] : [
	f32(t.map((c) => c * (1 + random() * 0.1))),
	f32(new Quaternion(...r).multiply(new Quaternion(...rotation(0.7))).toArray()), s
]));
const sources = ['plain', 'scaled', 'walker'];
const poses = { plain: [posed('plain'), posed('plain')], scaled: [posed('scaled')] };
poses.plain[1][1][2] = f32([1.2, 1.2, 1.2]);
poses.plain[1][4][2] = f32([0.5, 0.8, 1.5]);

const all = Object.fromEntries(['hip', 'spine', 'head', 'arm_l', 'hand_l', 'arm_r', 'hand_r', 'leg_l', 'foot_l'].map((n) => ['T_' + n, n]));
const { T_hand_r, T_spine, ...some } = all;
const offsets = { T_hip: rotation(), T_arm_l: rotation(), T_foot_l: rotation(), tail: rotation() };
const variants = [
	{},
	{ preserveBoneMatrix: false },
	{ preserveBonePositions: false },
	{ useTargetMatrix: true },
	{ preserveBoneMatrix: false, useTargetMatrix: true },
	{ preserveBoneMatrix: false, preserveBonePositions: false },
	{ preserveBoneMatrix: false, preserveBonePositions: false, useTargetMatrix: true },
	{ hip: 'spine' },
	{ hip: null },
	{ hipInfluence: [1, 0, 0.5] },
	{ hipPosition: [0.1, 0.2, -0.3] },
	{ scale: 1.7 },
	{ scale: 0.5, hipInfluence: [0.5, 2, 1], hipPosition: [0.1, 0.2, -0.3] },
	{ names: some, hip: 'hip' },
	{ names: { ...some, T_spine: 'no such joint' }, preserveBonePositions: false },
	{ localOffsets: offsets },
	{ localOffsets: offsets, preserveBoneMatrix: false, preserveBonePositions: false, scale: 2 }
];

// Options as three.js takes them; it writes into what it is given.
function options({ hip, hipInfluence, hipPosition, localOffsets, names = all, ...rest }) {
	const out = { names: { ...names }, ...rest };
	if (hip !== undefined) out.hip = hip ?? '';
	if (hipInfluence) out.hipInfluence = new Vector3(...hipInfluence);
	if (hipPosition) out.hipPosition = new Vector3(...hipPosition);
	if (localOffsets) out.localOffsets = Object.fromEntries(Object.entries(localOffsets).map(([name, q]) =>
		[name, new Matrix4().makeRotationFromQuaternion(new Quaternion(...q))]));
	return out;
}

function poseCase(source, pose, target, variant, bare) {
	const start = bare ? posed(target) : null;
	// The split body has no hip of its own.
	const settings = target === 'split' && variant.hip !== null ? { ...variant, hip: 'arm_l' } : variant;
	const from = build(bodies[source], poses[source][pose]);
	const to = build(bodies[target], start);
	retarget(bare ? to.skeleton : to.mesh, from.mesh, options(settings));
	const joints = to.skeleton.bones.map((b) => digits([...b.position.toArray(), ...b.quaternion.toArray(), ...b.scale.toArray()]));
	return { source, pose, target, bare, start, options: { ...settings, names: settings.names ?? all }, joints };
}

const cases = [];
const targets = Object.keys(bodies).filter((name) => !sources.includes(name));
for (const [number, target] of targets.entries()) {
	for (const variant of variants) {
		cases.push(poseCase('plain', number % 2, target, variant, false));
	}
	cases.push(poseCase('scaled', 0, target, {}, false), poseCase('scaled', 0, target, variants[6], false));
}
for (const target of ['siblings', 'shuffled', 'extra', 'small']) {
	for (const variant of [variants[0], variants[2], variants[13], variants[15]]) {
		cases.push(poseCase('plain', 0, target, variant, true));
	}
}

// A clip of a few joints, with keys at different times.
function clipOf(name, duration, keys) {
	const times = (count) => f32(range(0, count).map((i) => duration * i / (count - 1)));
	return { name, tracks: [
		[1, 'translation', times(keys), range(0, keys).flatMap(() => f32([random() * 0.2, 1 + random() * 0.2, random() * 0.2]))],
		...[1, 2, 4, 5, 8].map((joint, i) => [joint, 'rotation', times(keys - i % 2), range(0, keys - i % 2).flatMap(() => rotation(0.6))])
	] };
}
const clips = [clipOf('walk', 1, 7), clipOf('odd', 0.73, 5)];

function clipCase(clip, target, fps, variant) {
	const from = build(bodies.walker, null);
	const to = build(bodies[target], null);
	const path = { translation: 'position', rotation: 'quaternion' };
	const tracks = clips[clip].tracks.map(([joint, channel, times, values]) => {
		const Track = channel === 'rotation' ? QuaternionKeyframeTrack : VectorKeyframeTrack;
		return new Track(`${bodies.walker.nodes[joint][0]}.${path[channel]}`, times, values);
	});
	const settings = options(variant);
	if (fps) settings.fps = fps;
	const result = retargetClip(to.mesh, from.mesh, new AnimationClip(clips[clip].name, -1, tracks), settings);
	const baked = result.tracks.map((track) => {
		const [, name, channel] = /^\.bones\[(.*)\]\.(.*)$/.exec(track.name);
		const joint = bodies[target].joints.find((n) => bodies[target].nodes[n][0] === name);
		const key = Object.keys(path).find((known) => path[known] === channel);
		return [joint, key, digits([...track.times]), digits([...track.values])];
	});
	return { clip, target, fps: fps ?? null, options: { ...variant, names: variant.names ?? all }, tracks: baked };
}
const clipCases = [
	clipCase(0, 'siblings', null, {}), clipCase(0, 'children', 30, { preserveBoneMatrix: false }),
	clipCase(0, 'shuffled', 12, { scale: 1.7, hipInfluence: [1, 0.5, 1] }), clipCase(1, 'siblings', null, { localOffsets: offsets }),
	clipCase(1, 'extra', 24, { names: some }), clipCase(1, 'small', 10, { preserveBonePositions: false, hip: 'spine' }),
	clipCase(1, 'posed', 3, { hip: null }), clipCase(0, 'split', 15, { hip: null, useTargetMatrix: true, preserveBoneMatrix: false })
];

// One line for each case: long enough lists to keep apart in a diff.
const lines = (list) => `[\n${list.map((entry) => JSON.stringify(entry)).join(',\n')}\n]`;
const map = (object) => `{\n${Object.entries(object).map(([k, v]) => `${JSON.stringify(k)}: ${JSON.stringify(v)}`).join(',\n')}\n}`;
writeFileSync(new URL('retarget.json', import.meta.url),
	`{"bodies": ${map(bodies)},\n"poses": ${map(poses)},\n"clips": ${lines(clips)},\n"cases": ${lines(cases)},\n"clip_cases": ${lines(clipCases)}}\n`);
console.log(`${cases.length} poses, ${clipCases.length} clips`);
