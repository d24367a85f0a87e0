//! Every finding that [`lint`](super::lint) can give, in one table.

use crate::model::codes;

codes! {
    INFLUENCES_OVER_4 "influences-over-4" Info "3.7.3.3" "Vertices with more than four influences; the numbers say how far they move when cut to the four strongest." "`sinew fix --influences 4` cuts them, where the displacement is tolerable."
    INFLUENCES_OVER_8 "influences-over-8" Warning "3.7.3.3" "Vertices with more than eight influences; the numbers say how far they move when cut to the eight strongest." "`sinew fix` cuts them to eight, the most that the fast kernels take."
    BIND_SHEARED "bind-sheared" Warning "3.7.3.1" "Inverse bind matrices that are no translation, rotation and scale along the joint's axes." "Apply scale and rotation of mesh and armature before binding."
    JOINTS_UNUSED "joints-unused" Info "3.7.3.3" "Joints of a skin that no vertex follows; each costs a palette row per instance." "`sinew fix` drops them from the skin and leaves the nodes."
    TARGET_DEAD "target-dead" Warning "3.7.2.2" "A morph target that moves no vertex." "`sinew fix` drops it."
    TARGET_UNDRIVEN "target-undriven" Info "3.7.2.2" "A morph target that no clip drives and that rests at weight 0." ""
    CHANNELS_CONSTANT "channels-constant" Info "3.11" "Channels whose keys never differ." "Leave them out when exporting, where they hold what the node rests at."
    VERTICES_UNUSED "vertices-unused" Info "3.7.2.1" "Vertices that no index names; they are deformed all the same." "Remove loose vertices before exporting."
    NORMALS_NOT_UNIT "normals-not-unit" Warning "3.7.2.1" "Normals that are not of unit length." "Normalize them when exporting."
    FINDINGS_CUT "findings-cut" Info "" "Too many findings of one kind; the rest is only counted." ""
}
