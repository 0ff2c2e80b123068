import { Link, useNavigate } from '@tanstack/react-router';
import { dataOf } from '../../api/client.js';
import { useApi, useSessionStore } from '../../app-context.js';
import { useMessages } from '../../i18n/locale.js';
import { PlainFrame } from '../../shell/plain-frame.js';
import { ActionForm } from '../../ui/action-form.js';
import { Page } from '../../ui/page.js';
import { TokenAndPassword, tokenAndPassword } from './token-and-password.js';
import { useTokenInLink } from './token-in-link.js';

export function AcceptInvitation() {
  const { auth } = useMessages();
  const api = useApi();
  const token = useTokenInLink();
  const session = useSessionStore();
  const navigate = useNavigate();
  return (
    <PlainFrame>
      <Page title={auth.acceptTitle} lead={auth.acceptText}>
        <ActionForm
          submit={auth.accept}
          action={async (values) => {
            session.begin(
              await dataOf(
                api.POST('/api/v1/auth/accept-invitation', {
                  body: { ...tokenAndPassword(values), refresh_token_in: 'cookie' },
                }),
              ),
            );
            await navigate({ to: '/' });
          }}
        >
          <TokenAndPassword label={auth.token} token={token} />
        </ActionForm>
        <p className="aside">
          <Link to="/">{auth.toSignIn}</Link>
        </p>
      </Page>
    </PlainFrame>
  );
}
