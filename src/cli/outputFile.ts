/**
 * Writes the output of a command to a file that the operator names.
 *
 * 1. A regular file appears complete or not at all: it is written beside its place under another name,
 *    which cannot be foreseen, and then renamed. An older file with its name is replaced.
 * 2. What is written belongs to accountants and has names of customers' orders: only its owner may read it.
 * 3. Anything else, such as a pipe or a device, is written in place and never replaced.
 * 4. A symbolic link is followed only to something that is not a regular file, or to a file in the
 *    folder of the link. Elsewhere somebody else may have chosen the file that would be replaced.
 */
import { randomBytes } from 'node:crypto';
import { constants, createWriteStream } from 'node:fs';
import { type FileHandle, lstat, open, realpath, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { errorCode, OperatorError, toError, UsageError } from '../platform/errors.ts';
import { terminal } from './invocation.ts';

/** Error codes of a file that cannot be written. */
const FILE_CODES = new Set(
  'EACCES EDQUOT EFBIG EIO EISDIR ELOOP ENAMETOOLONG ENODEV ENOENT ENOSPC ENOTDIR ENXIO EPERM EROFS'.split(
    ' ',
  ),
);

/** Writes to a file, or to standard output if none is named. */
export function writeOutput(text: Readable, output: string | undefined): Promise<void> {
  return output === undefined ? writeStandardOutput(text) : writeOutputFile(text, output);
}

/** @throws UsageError when the file cannot be written, or must not be */
export async function writeOutputFile(text: Readable, output: string): Promise<void> {
  try {
    const target = await findTarget(output);
    await (target.isReplaced ? replaceFile(text, target.path) : writeInPlace(text, target.path));
  } catch (error) {
    if (!FILE_CODES.has(errorCode(error))) throw error;
    throw new UsageError(`${output} cannot be written: ${toError(error).message}`);
  }
}

/** A reader such as `head` may close the pipe early; that is not a failure. */
export async function writeStandardOutput(text: Readable): Promise<void> {
  try {
    await pipeline(text, terminal().stdout, { end: false });
  } catch (error) {
    if (errorCode(error) !== 'EPIPE') throw error;
  }
}

interface Target {
  readonly path: string;
  /** Whether a complete file takes its place (rule 1), or it is written in place (rule 3). */
  readonly isReplaced: boolean;
}

async function findTarget(output: string): Promise<Target> {
  const found = await lstat(output).catch(ignoreMissing);
  if (found === undefined || found.isFile()) return { path: output, isReplaced: true };
  if (!found.isSymbolicLink()) return { path: output, isReplaced: false };
  const target = await realpath(output);
  if (!(await stat(target)).isFile()) return { path: target, isReplaced: false };
  if (path.dirname(target) === (await realpath(path.dirname(output)))) {
    return { path: target, isReplaced: true };
  }
  throw new UsageError(
    `${output} is a symbolic link to ${target}, in another folder, so it is not written: the file there ` +
      'would be replaced. Name the file itself.',
  );
}

function ignoreMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error;
}

async function replaceFile(text: Readable, target: string): Promise<void> {
  const partial = `${target}.${randomBytes(6).toString('hex')}.partial`;
  try {
    // `wx` refuses a file or link that is already there.
    await pipeline(text, createWriteStream(partial, { flags: 'wx', mode: 0o600 }));
    await rename(partial, target);
  } catch (error) {
    await rm(partial, { force: true });
    throw error;
  }
}

async function writeInPlace(text: Readable, target: string): Promise<void> {
  const file = await open(target, constants.O_WRONLY);
  await refuseRegularFile(file, target);
  // The stream closes the file.
  await pipeline(text, file.createWriteStream());
}

/** Between the check and the opening, a regular file may have come to that name. */
async function refuseRegularFile(file: FileHandle, target: string): Promise<void> {
  if (!(await file.stat()).isFile()) return;
  await file.close();
  throw new OperatorError(`${target} was replaced while the export began. Try again.`);
}
