import { Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { dataOf } from '../../api/client.js';
import { useApi, useSessionStore } from '../../app-context.js';
import { useMessages } from '../../i18n/locale.js';
import { PlainFrame } from '../../shell/plain-frame.js';
import { ActionForm } from '../../ui/action-form.js';
import { Button } from '../../ui/button.js';
import { Page } from '../../ui/page.js';
import { TokenAndPassword, tokenAndPassword } from './token-and-password.js';
import { useTokenInLink } from './token-in-link.js';

/** Creates the organisation that a person asked for, and signs its owner in. */
export function ConfirmSignUp() {
  const { signUp, auth } = useMessages();
  const api = useApi();
  const token = useTokenInLink();
  const session = useSessionStore();
  const navigate = useNavigate();
  const [hasCode, setHasCode] = useState(false);
  if (token === '' && !hasCode) {
    return (
      <PlainFrame>
        <Page title={signUp.confirmTitle} lead={signUp.openLink}>
          <Button onPress={() => setHasCode(true)}>{signUp.enterCode}</Button>
        </Page>
      </PlainFrame>
    );
  }
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
            // An account without a site begins with one.
            await navigate({ to: '/sites/new' });
          }}
        >
          <TokenAndPassword label={signUp.token} token={token} />
        </ActionForm>
        <p className="aside">
          <Link to="/">{auth.toSignIn}</Link>
        </p>
      </Page>
    </PlainFrame>
  );
}
