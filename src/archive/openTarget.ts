/** Opens the archive of the settings. */
import type { ArchiveSettings } from '../config/archiveSettings.ts';
import { UsageError } from '../platform/errors.ts';
import { installCommand, isNotInstalled } from '../platform/optionalPackages.ts';
import { createFolderTarget } from './folderTarget.ts';
import type { ArchiveTarget } from './target.ts';

const S3_CLIENT = '@aws-sdk/client-s3';

export async function openArchiveTarget(settings: ArchiveSettings): Promise<ArchiveTarget> {
  if (settings.kind === 'folder') return createFolderTarget(settings.folder);
  // Loading the client takes a third of a second, which only those who use it should pay.
  const { createS3Target } = await import('./s3Target.ts').catch((error: unknown) => {
    if (!isNotInstalled(error, S3_CLIENT)) throw error;
    throw new UsageError(
      `The archive is in a bucket, and the package ${S3_CLIENT} that reads and writes it is not installed. ` +
        `Run: ${installCommand(S3_CLIENT)}`,
      { cause: error },
    );
  });
  return createS3Target(settings);
}
