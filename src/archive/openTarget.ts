/** Opens the archive of the settings. */
import type { ArchiveSettings } from '../config/archiveSettings.ts';
import { createFolderTarget } from './folderTarget.ts';
import type { ArchiveTarget } from './target.ts';

export async function openArchiveTarget(settings: ArchiveSettings): Promise<ArchiveTarget> {
  if (settings.kind === 'folder') return createFolderTarget(settings.folder);
  // Loading the client takes a third of a second, which only those who use it should pay.
  const { createS3Target } = await import('./s3Target.ts');
  return createS3Target(settings);
}
