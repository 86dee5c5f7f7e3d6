/**
 * `@tallyhook/client/admin-api`: the admin API of an installation, for programs. See docs/guides/admin-api.md.
 */
export { type AdminApiClient, createAdminApiClient } from './createAdminApiClient.ts';
export { AdminApiError, type AdminApiErrorKind } from './errors.ts';
export type * from './operations.ts';
export type { AdminApiCallOptions, AdminApiOptions } from './options.ts';
