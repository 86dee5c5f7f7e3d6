/** Who acts. A role is text here: the audit log records it, and decides nothing by it. */
export type Actor =
  /** The holder of a token. */
  | {
      readonly kind: 'token';
      readonly name: string;
      readonly role: string;
      /** Address of the client, or `user@host` of a command. */
      readonly origin: string;
    }
  /** A person who signed in to the console at an identity provider. */
  | {
      readonly kind: 'person';
      /** With the subject at the provider, which is unique. */
      readonly name: string;
      /** `none` if the provider's response gives no role. */
      readonly role: string;
      /** Address of the client. */
      readonly origin: string;
    }
  /** Whoever failed to sign in. */
  | {
      readonly kind: 'unknown';
      readonly name: 'unknown';
      readonly role: 'none';
      /** Address of the client. */
      readonly origin: string;
    }
  /** A person at a shell. */
  | {
      readonly kind: 'cli';
      readonly name: string;
      readonly role: string;
      /** `user@host`. */
      readonly origin: string;
    }
  /** A process that starts or stops, or finishes what a person requested. */
  | {
      readonly kind: 'process';
      /** The user of the operating system that runs it. */
      readonly name: string;
      readonly role: 'process';
      /** `user@host`. */
      readonly origin: string;
    };

export const ACTOR_KINDS = [
  'token',
  'person',
  'cli',
  'process',
  'unknown',
] as const satisfies readonly Actor['kind'][];
