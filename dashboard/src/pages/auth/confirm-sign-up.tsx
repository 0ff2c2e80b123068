import { Link, useNavigate } from '@tanstack/react-router';
import { dataOf } from '../../api/client.js';
import { useApi, useSessionStore } from '../../app-context.js';
import { useMessages } from '../../i18n/locale.js';
import { PlainFrame } from '../../shell/plain-frame.js';
import { ActionForm } from '../../ui/action-form.js';
import { Page } from '../../ui/page.js';
import { TokenAndPassword, tokenAndPassword } from './token-and-password.js';

/** Creates the organisation that a person asked for, and signs its owner in. */
export function ConfirmSignUp() {
  const { signUp, auth } = useMessages();
  const api = useApi();
  const session = useSessionStore();
  const navigate = useNavigate();
  return (
    <PlainFrame>
      <Page title={signUp.confirmTitle} lead={auth.acceptText}>
        <ActionForm
          submit={signUp.confirm}
          action={async (values) => {
            session.begin(
              await dataOf(
                api.POST('/api/v1/auth/confirm-sign-up', {
                  body: { ...tokenAndPassword(values), refresh_token_in: 'cookie' },
                }),
              ),
            );
            await navigate({ to: '/' });
          }}
        >
          <TokenAndPassword label={signUp.token} />
        </ActionForm>
        <p className="aside">
          <Link to="/">{auth.toSignIn}</Link>
        </p>
      </Page>
    </PlainFrame>
  );
}
