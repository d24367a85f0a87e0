//! Every change that [`fix`](super::fix()) can make, in one table.

use crate::model::codes;

codes! {
    INFLUENCES_REDUCED "influences-reduced" Repaired "3.7.3.3" "Vertices kept their strongest influences, scaled up to a sum of one." ""
    JOINTS_DROPPED "joints-dropped" Repaired "3.7.3.3" "Joints that no vertex follows left their skin; their nodes stay." ""
    SKIN_JOINTS_MERGED "skin-joints-merged" Repaired "5.28" "Joints of a skin that are the same node with the same inverse bind became one." ""
    JOINTS_KEPT "joints-kept" Info "3.7.3.3" "Unused joints stayed, because a mesh is used with several skins." ""
    TARGETS_DROPPED "targets-dropped" Repaired "3.7.2.2" "Morph targets that move no vertex were taken out of mesh, weights and clips." ""
    TRACKS_DROPPED "tracks-dropped" Repaired "3.11" "Channels and clips that drove nothing but dropped targets were taken out." ""
}
