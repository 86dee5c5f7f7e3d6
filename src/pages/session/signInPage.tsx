/** The page that asks for a token. */
import { Field } from '../components/forms.tsx';
import type { PageView } from '../page.ts';

export function signInView({
  next,
  problem,
}: {
  /** Where to go afterwards. */
  readonly next: string;
  readonly problem: string | undefined;
}): PageView {
  return {
    title: 'Sign in',
    body: (
      <form class="sign-in" method="post" action="/sign-in">
        {problem === undefined ? null : (
          <p class="problem" role="alert">
            {problem}
          </p>
        )}
        <input type="hidden" name="next" value={next} />
        <Field
          name="token"
          label="Token"
          type="password"
          required
          hint="Your token, or ADMIN_TOKEN of this installation. It is not stored."
        />
        <button type="submit">Sign in</button>
      </form>
    ),
  };
}
