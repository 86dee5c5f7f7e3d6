/** What is stored of uploaded files. */
export interface FileStatements {
  insertFile(file: StoredFile): Promise<void>;
  /** Which of `fileIds`, at most one for each field of evidence, were uploaded for the dispute. */
  findFiles(disputeId: string, fileIds: readonly string[]): Promise<ReadonlySet<string>>;
}

export interface StoredFile {
  readonly fileId: string;
  readonly disputeId: string;
  readonly name: string;
  readonly contentType: string;
  readonly content: Buffer;
  /** ISO 8601. */
  readonly createdAt: string;
}
