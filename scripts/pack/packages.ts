/**
 * What each published package holds: the one place that names it. All are built from this source tree and
 * have the version of its package.json.
 *
 * `stagePackage` refuses a package that imports what is not named here.
 */

/** A library, compiled twice: as ES modules and as CommonJS, each with its types. */
export interface LibraryPackage {
  readonly kind: 'library';
  readonly name: string;
  readonly description: string;
  /** The source of each entry point, by its name in `exports`. */
  readonly entries: Readonly<Record<string, string>>;
  /** Packages that the tarball itself contains, with the folders of each that are left out. */
  readonly bundled: Readonly<Record<string, readonly string[]>>;
  /** Files by their path in the package, and where they come from. */
  readonly files: Readonly<Record<string, string>>;
}

export type PackageDefinition = LibraryPackage;

export const CLIENT_PACKAGE: LibraryPackage = {
  kind: 'library',
  name: '@tallyhook/client',
  description: 'Typed client of the payment service, which charges nobody twice.',
  entries: { '.': 'src/client/index.ts', './contract': 'src/contract/index.ts' },
  // Its TypeScript sources, its earlier version and its small variant: two thirds of its size, and
  // nothing that the contract imports. Decision 99 has the reason to bundle it.
  bundled: { zod: ['src', 'v3', 'mini', 'v4-mini', 'v4/mini', 'locales'] },
  files: { LICENSE: 'LICENSE', 'README.md': 'docs/packages/client.md' },
};

export const PACKAGES: readonly PackageDefinition[] = [CLIENT_PACKAGE];
