/** What evidence is answered with. service-interface.md §2.6. */
import { z } from 'zod';
import { id, text, timestamp } from './fields.ts';

/** service-interface.md §2.6. */
export const evidenceResultSchema = z.looseObject({
  dispute_id: id,
  /** `submitted`. */
  status: text,
  evidence_submitted_at: timestamp,
});
export type EvidenceResult = z.infer<typeof evidenceResultSchema>;

/** service-interface.md §4.6.2. */
export const evidenceSchema = z.looseObject({
  dispute_id: id,
  /** By group and field; which groups there are is open. Those without a field are left out. */
  evidence: z.record(z.string(), z.record(z.string(), z.unknown())).nullish(),
  evidence_submitted_at: timestamp,
});
export type Evidence = z.infer<typeof evidenceSchema>;

/** What uploading answers with. The family's. */
export const uploadedFileSchema = z.looseObject({ file_id: id });
export type UploadedFile = z.infer<typeof uploadedFileSchema>;
