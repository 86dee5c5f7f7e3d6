/** Routes for evidence. service-interface.md §4.6; the upload of files is as at services of this family. */
import { EVIDENCE_FILE_FIELDS } from '../../contract/index.ts';
import { accept, rejectValue } from '../domain/decision.ts';
import { changeEvidence, type DisputeState, groupEvidence } from '../domain/dispute.ts';
import { isoTime } from '../domain/time.ts';
import { randomId } from '../ids.ts';
import type { Services } from '../services.ts';
import { changeDispute, disputeView, unknownDispute } from './disputes.ts';
import type { Handlers } from './handler.ts';

type Evidence = 'submitEvidence' | 'retrieveEvidence' | 'deleteEvidence' | 'uploadFile';

export const EVIDENCE_HANDLERS: Handlers<Evidence> = {
  submitEvidence: async ({ input }, services) => {
    const { dispute_id: disputeId, ...fields } = input;
    const named = EVIDENCE_FILE_FIELDS.flatMap((name) => fields[name] || []);
    // Files are never deleted, so files that are found here still exist when the dispute is changed.
    const known = await services.store.findFiles(disputeId, named);
    const unknown = EVIDENCE_FILE_FIELDS.find((name) => fields[name] && !known.has(fields[name]));
    return await changeDispute(
      services,
      disputeId,
      (state, nowMs) => {
        const changed = changeEvidence(state, fields, nowMs);
        if (changed.rejection || unknown === undefined) return changed;
        return rejectValue(`${unknown}: no file with this id was uploaded for this dispute`);
      },
      result,
    );
  },

  retrieveEvidence: async ({ params }, { store, faults }) => {
    const found = await store.readResource('dispute', params.dispute_id);
    if (found?.kind !== 'dispute') return unknownDispute(params.dispute_id);
    if (faults.current().family_evidence) return accept(filesOf(found.state));
    const { dispute_id, evidence_submitted_at } = found.state;
    return accept({ dispute_id, evidence: groupEvidence(found.state), evidence_submitted_at });
  },

  deleteEvidence: ({ input }, services) =>
    changeDispute(
      services,
      input.dispute_id,
      (state, nowMs) => changeEvidence(state, { [input.evidence_type]: '' }, nowMs),
      (state, { faults }) => (faults.current().family_evidence ? undefined : submitted(state)),
    ),

  uploadFile: async ({ input }, { store, shownClock }) => {
    const { dispute_id: disputeId, file } = input;
    if ((await store.readResource('dispute', disputeId)) === undefined) {
      return unknownDispute(disputeId);
    }
    const fileId = randomId('file_');
    await store.insertFile({
      fileId,
      disputeId,
      name: file.name,
      contentType: file.type,
      content: Buffer.from(await file.arrayBuffer()),
      createdAt: isoTime(shownClock.nowMs()),
    });
    return accept({ file_id: fileId });
  },
};

/** The response to evidence: of the family, the dispute. */
function result(state: DisputeState, services: Services): object {
  const { family_evidence: isFamily } = services.faults.current();
  return isFamily ? disputeView(state, services) : submitted(state);
}

/** The family's form of the evidence: its files, without groups and texts. */
function filesOf({ hidden: { evidence = {} } }: DisputeState): readonly object[] {
  return EVIDENCE_FILE_FIELDS.flatMap((name) =>
    evidence[name] === undefined
      ? []
      : [{ evidence_type: name, file_metadata_response: { file_id: evidence[name] } }],
  );
}

/** The result of submitting evidence. service-interface.md §2.6. */
function submitted({ dispute_id, evidence_submitted_at }: DisputeState): object {
  return { dispute_id, status: 'submitted', evidence_submitted_at };
}
