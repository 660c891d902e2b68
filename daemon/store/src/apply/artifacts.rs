//! Every artifact that an event refers to is known: what is not known may be swept.

use air_contracts::artifact::{ArtifactRef, Stored};
use air_contracts::event::EventBody;

use super::statements::Insert;
use super::{Changes, Entry};

pub(super) fn register(entry: Entry<'_>, changes: &mut Changes) {
    each(entry.body, &mut |artifact| {
        let row = (
            artifact.id.hex(),
            &artifact.hash,
            artifact.size,
            &artifact.media_type,
            &artifact.name,
            entry.seq,
        );
        changes.insert(Insert::Artifact, row);
    });
}

fn each(body: &EventBody, found: &mut impl FnMut(&ArtifactRef)) {
    match body {
        EventBody::ArtifactCreated(body) => found(&body.artifact),
        EventBody::MessageAppended(body) => stored(&body.content, found),
        EventBody::ToolStarted(body) => stored(&body.input, found),
        EventBody::ToolCompleted(body) => {
            stored(&body.content, found);
            body.artifacts.iter().for_each(found);
        }
        EventBody::ToolFailed(body) => {
            stored(&body.content, found);
            body.artifacts.iter().for_each(&mut *found);
            if let Some(started) = &body.refused {
                stored(&started.input, found);
            }
        }
        EventBody::EvidenceRecorded(body) => body.evidence.artifact.iter().for_each(found),
        EventBody::ContextAssembled(body) => found(&body.base),
        EventBody::SummaryCreated(body) => found(&body.artifact),
        _ => {}
    }
}

fn stored<T>(value: &Stored<T>, found: &mut impl FnMut(&ArtifactRef)) {
    if let Stored::Artifact { artifact } = value {
        found(artifact);
    }
}
