/** Statements on uploaded files. */
import type { Queryable } from '../../../platform/db/database.ts';
import type { StoredFile } from '../files.ts';

export async function insertFile(db: Queryable, file: StoredFile): Promise<void> {
  await db.query(
    `insert into sandbox.files (file_id, dispute_id, name, content_type, content, created_at)
     values ($1, $2, $3, $4, $5, $6)`,
    [file.fileId, file.disputeId, file.name, file.contentType, file.content, file.createdAt],
  );
}

/** Which of `fileIds`, at most one for each field of evidence, were uploaded for the dispute. */
export async function findFiles(
  db: Queryable,
  disputeId: string,
  fileIds: readonly string[],
): Promise<ReadonlySet<string>> {
  const rows = await db.query<{ fileId: string }>(
    `select file_id as "fileId" from sandbox.files
      where dispute_id = $1 and file_id = any($2)
      limit 100`,
    [disputeId, fileIds],
  );
  return new Set(rows.map(({ fileId }) => fileId));
}
