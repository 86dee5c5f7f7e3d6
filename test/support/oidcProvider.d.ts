/** What the tests use of the provider, which brings no types. */
declare module 'oidc-provider' {
  import type { RequestListener } from 'node:http';

  export interface ProviderContext {
    readonly oidc?: { readonly route?: string };
    body: unknown;
  }

  export class Provider {
    constructor(issuer: string, configuration: Readonly<Record<string, unknown>>);
    callback(): RequestListener;
    use(middleware: (context: ProviderContext, next: () => Promise<void>) => Promise<void>): void;
  }
}
