//! Every index of the document against its list, in one place: what runs later indexes freely.

use gltf::json::{self, validation::Checked};

use super::{ImportError, document::Document};

pub(super) fn check(document: &Document) -> Result<(), ImportError> {
    let check = Check(document);
    check.views_and_accessors()?;
    check.nodes()?;
    check.meshes()?;
    check.skins_and_animations()?;
    check.materials()
}

struct Check<'a>(&'a Document);

fn inside<T>(
    kind: &'static str,
    index: json::Index<T>,
    count: usize,
    place: impl FnOnce() -> String,
) -> Result<(), ImportError> {
    let index = index.value();
    if index < count {
        return Ok(());
    }
    Err(ImportError::Reference { place: place(), kind, index, count })
}

impl Check<'_> {
    fn accessor(
        &self,
        index: json::Index<json::Accessor>,
        place: impl FnOnce() -> String,
    ) -> Result<(), ImportError> {
        inside("accessor", index, self.0.accessors.len(), place)
    }

    fn view(
        &self,
        index: json::Index<json::buffer::View>,
        place: impl FnOnce() -> String,
    ) -> Result<(), ImportError> {
        inside("bufferView", index, self.0.views.len(), place)
    }

    fn node(
        &self,
        index: json::Index<json::Node>,
        place: impl FnOnce() -> String,
    ) -> Result<(), ImportError> {
        inside("node", index, self.0.nodes.len(), place)
    }

    fn views_and_accessors(&self) -> Result<(), ImportError> {
        let buffers = self.0.buffers.len();
        for (i, view) in self.0.views.iter().enumerate() {
            inside("buffer", view.buffer, buffers, || format!("bufferViews[{i}].buffer"))?;
        }
        for (i, compressed) in self.0.compressed.iter().enumerate() {
            if let Some(compressed) = compressed.as_ref().filter(|c| c.buffer >= buffers) {
                let index = compressed.buffer;
                let place = format!("bufferViews[{i}].extensions.{}.buffer", compressed.extension);
                return Err(ImportError::Reference { place, kind: "buffer", index, count: buffers });
            }
        }
        for (i, accessor) in self.0.accessors.iter().enumerate() {
            if let Some(view) = accessor.buffer_view {
                self.view(view, || format!("accessors[{i}].bufferView"))?;
            }
            if let Some(sparse) = &accessor.sparse {
                let place = |part: &str| format!("accessors[{i}].sparse.{part}.bufferView");
                self.view(sparse.indices.buffer_view, || place("indices"))?;
                self.view(sparse.values.buffer_view, || place("values"))?;
            }
        }
        Ok(())
    }

    fn nodes(&self) -> Result<(), ImportError> {
        for (i, node) in self.0.nodes.iter().enumerate() {
            for (c, child) in node.children.iter().flatten().enumerate() {
                self.node(*child, || format!("nodes[{i}].children[{c}]"))?;
            }
            if let Some(mesh) = node.mesh {
                inside("mesh", mesh, self.0.meshes.len(), || format!("nodes[{i}].mesh"))?;
            }
            if let Some(skin) = node.skin {
                inside("skin", skin, self.0.skins.len(), || format!("nodes[{i}].skin"))?;
            }
        }
        for (i, scene) in self.0.raw_scenes.iter().enumerate() {
            for (n, root) in scene.nodes.iter().enumerate() {
                self.node(*root, || format!("scenes[{i}].nodes[{n}]"))?;
            }
        }
        if let Some(scene) = self.0.scene {
            let scene = json::Index::<json::Scene>::new(scene);
            inside("scene", scene, self.0.raw_scenes.len(), || "scene".into())?;
        }
        Ok(())
    }

    fn meshes(&self) -> Result<(), ImportError> {
        for (m, mesh) in self.0.meshes.iter().enumerate() {
            for (p, primitive) in mesh.primitives.iter().enumerate() {
                let place = || format!("meshes[{m}].primitives[{p}]");
                for (name, accessor) in &primitive.attributes {
                    let Checked::Valid(name) = name else { continue };
                    self.accessor(*accessor, || format!("{}.attributes.{}", place(), name.to_string()))?;
                }
                if let Some(indices) = primitive.indices {
                    self.accessor(indices, || format!("{}.indices", place()))?;
                }
                if let Some(material) = primitive.material {
                    let count = self.0.materials.len();
                    inside("material", material, count, || format!("{}.material", place()))?;
                }
                for (t, target) in primitive.targets.iter().flatten().enumerate() {
                    let attributes = [
                        ("POSITION", target.positions),
                        ("NORMAL", target.normals),
                        ("TANGENT", target.tangents),
                    ];
                    for (name, accessor) in attributes {
                        if let Some(accessor) = accessor {
                            self.accessor(accessor, || format!("{}.targets[{t}].{name}", place()))?;
                        }
                    }
                }
            }
        }
        Ok(())
    }

    fn skins_and_animations(&self) -> Result<(), ImportError> {
        for (i, skin) in self.0.skins.iter().enumerate() {
            for (j, joint) in skin.joints.iter().enumerate() {
                self.node(*joint, || format!("skins[{i}].joints[{j}]"))?;
            }
            if let Some(root) = skin.skeleton {
                self.node(root, || format!("skins[{i}].skeleton"))?;
            }
            if let Some(matrices) = skin.inverse_bind_matrices {
                self.accessor(matrices, || format!("skins[{i}].inverseBindMatrices"))?;
            }
        }
        for (a, animation) in self.0.animations.iter().enumerate() {
            for (c, channel) in animation.channels.iter().enumerate() {
                let place = || format!("animations[{a}].channels[{c}]");
                let samplers = animation.samplers.len();
                inside("sampler", channel.sampler, samplers, || format!("{}.sampler", place()))?;
                self.node(channel.target.node, || format!("{}.target.node", place()))?;
            }
            for (s, sampler) in animation.samplers.iter().enumerate() {
                let place = || format!("animations[{a}].samplers[{s}]");
                self.accessor(sampler.input, || format!("{}.input", place()))?;
                self.accessor(sampler.output, || format!("{}.output", place()))?;
            }
        }
        Ok(())
    }

    fn materials(&self) -> Result<(), ImportError> {
        for (i, material) in self.0.materials.iter().enumerate() {
            let pbr = &material.pbr_metallic_roughness;
            let slots = [
                ("baseColorTexture", pbr.base_color_texture.as_ref().map(|t| t.index)),
                ("metallicRoughnessTexture", pbr.metallic_roughness_texture.as_ref().map(|t| t.index)),
                ("normalTexture", material.normal_texture.as_ref().map(|t| t.index)),
                ("occlusionTexture", material.occlusion_texture.as_ref().map(|t| t.index)),
                ("emissiveTexture", material.emissive_texture.as_ref().map(|t| t.index)),
            ];
            for (slot, texture) in slots {
                if let Some(texture) = texture {
                    inside("texture", texture, self.0.textures.len(), || format!("materials[{i}].{slot}"))?;
                }
            }
        }
        for (i, texture) in self.0.textures.iter().enumerate() {
            if let Some(sampler) = texture.sampler {
                inside("sampler", sampler, self.0.samplers.len(), || format!("textures[{i}].sampler"))?;
            }
            if texture.source.value() != u32::MAX as usize {
                inside("image", texture.source, self.0.images.len(), || format!("textures[{i}].source"))?;
            }
        }
        for (i, image) in self.0.images.iter().enumerate() {
            if let Some(view) = image.buffer_view {
                self.view(view, || format!("images[{i}].bufferView"))?;
            }
        }
        Ok(())
    }
}
