import { FileProblem } from '../../src/settlement/domain/fileProblem.ts';

/** Why a file is refused, as the operator reads it. */
export function problemOf(read: () => unknown): string {
  try {
    read();
  } catch (error) {
    if (error instanceof FileProblem) return error.message;
    throw error;
  }
  return 'it was read';
}
