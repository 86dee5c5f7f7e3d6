/** The responses about evidence. service-interface.md §2.6 and §4.6.2. */
import { z } from 'zod';
import { id, lenient, text, timestamp } from './fields.ts';

/** The result of submitting evidence. service-interface.md §2.6. */
export const evidenceResultSchema = z.looseObject({
  dispute_id: id,
  /** `submitted`. */
  status: text,
  evidence_submitted_at: timestamp,
});
export type EvidenceResult = z.infer<typeof evidenceResultSchema>;

/** The evidence of a dispute. service-interface.md §4.6.2. */
export const evidenceSchema = z.looseObject({
  dispute_id: id,
  /** By group and field. The set of groups is open; fields without a value are left out. */
  evidence: lenient(z.record(z.string(), lenient(z.record(z.string(), z.unknown())))),
  evidence_submitted_at: timestamp,
});
export type Evidence = z.infer<typeof evidenceSchema>;

/** The family's form of the evidence of a dispute: its files, without groups and texts. */
export const evidenceFilesSchema = z.array(
  z.looseObject({
    evidence_type: text,
    file_metadata_response: lenient(z.looseObject({ file_id: text })),
  }),
);
export type EvidenceFiles = z.infer<typeof evidenceFilesSchema>;

/** The result of uploading a file. The family's. */
export const uploadedFileSchema = z.looseObject({ file_id: id });
export type UploadedFile = z.infer<typeof uploadedFileSchema>;
