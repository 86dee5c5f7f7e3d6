/** The page that asks who you are, and the one that leads on after the provider's response. */
import { Field } from '../components/forms.tsx';
import type { PageView } from '../page.ts';

/** The identity provider, as the sign-in shows it. */
export interface ShownProvider {
  /** Such as `login.shop.example`. */
  readonly name: string;
  /** Where the sign-in there begins. */
  readonly signInUrl: string;
  /** What to know of the provider now, before the link to sign out there. */
  readonly about: string | undefined;
  /** Undefined: it has no sign-out. */
  readonly signOutUrl: string | undefined;
}

export interface SignInShown {
  /** Where to go afterwards. */
  readonly next: string;
  readonly problem: string | undefined;
  readonly provider: ShownProvider | undefined;
}

export function signInView({ next, problem, provider }: SignInShown): PageView {
  return {
    title: 'Sign in',
    body: (
      <div class="sign-in">
        {problem === undefined ? null : (
          <p class="problem" role="alert">
            {problem}
          </p>
        )}
        {provider === undefined ? null : <ProviderLinks provider={provider} />}
        <form method="post" action="/sign-in">
          <input type="hidden" name="next" value={next} />
          <Field
            name="token"
            label="Token"
            type="password"
            required
            hint="Your token, or ADMIN_TOKEN of this installation. It is not stored."
          />
          <button type="submit">
            {provider === undefined ? 'Sign in' : 'Sign in with a token'}
          </button>
        </form>
      </div>
    ),
  };
}

function ProviderLinks({
  provider: { about, name, signInUrl, signOutUrl },
}: {
  readonly provider: ShownProvider;
}) {
  return (
    <>
      {about === undefined ? null : (
        <p>
          {about}
          {signOutUrl === undefined ? null : <a href={signOutUrl}>{`Sign out at ${name}`}</a>}
        </p>
      )}
      <a class="button" href={signInUrl}>{`Sign in at ${name}`}</a>
      <p class="or">or</p>
    </>
  );
}

export function signedInView({ next }: { readonly next: string }): PageView {
  return {
    title: 'Signed in',
    body: (
      <p>
        <a class="button" href={next}>
          Continue
        </a>
      </p>
    ),
  };
}
