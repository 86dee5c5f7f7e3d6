/** Options of the client of the admin API. */

/** Options of createAdminApiClient. */
export interface AdminApiOptions {
  /** Where the role `console` listens, such as `https://tallyhook.shop.example`. */
  readonly baseUrl: string;
  /** A token of `tallyhook tokens create`. Its name is recorded with what it does. */
  readonly token: string;
  /** How long a call may take; 30 seconds by default. */
  readonly timeoutMs?: number | undefined;
}

/** Options of every call. */
export interface AdminApiCallOptions {
  /** Aborts the call. What was already sent may have been done. */
  readonly signal?: AbortSignal | undefined;
  /** Replaces the timeout of the client for this call. */
  readonly timeoutMs?: number | undefined;
}
