import { Link, useNavigate } from '@tanstack/react-router';
import { dataOf } from '../../api/client.js';
import { useApi, useSessionStore } from '../../app-context.js';
import { useMessages } from '../../i18n/locale.js';
import { PlainFrame } from '../../shell/plain-frame.js';
import { ActionForm } from '../../ui/action-form.js';
import { TextInput } from '../../ui/fields.js';
import { Page } from '../../ui/page.js';
import { useTokenInLink } from './token-in-link.js';

/** Creates the organisation that a person asked for, and signs its owner in. */
export function ConfirmSignUp() {
  const { signUp, auth } = useMessages();
  const api = useApi();
  const session = useSessionStore();
  const navigate = useNavigate();
  const token = useTokenInLink();
  return (
    <PlainFrame>
      <Page title={signUp.confirmTitle} lead={auth.acceptText}>
        <ActionForm
          submit={signUp.confirm}
          action={async (values) => {
            const body = { token: values.text('token').trim(), password: values.text('password') };
            session.begin(
              await dataOf(api.POST('/api/v1/auth/confirm-sign-up', { body: { ...body, refresh_token_in: 'cookie' } })),
            );
            await navigate({ to: '/' });
          }}
        >
          <TextInput name="token" label={signUp.token} defaultValue={token} autoComplete="off" isRequired />
          <TextInput
            name="password"
            type="password"
            label={auth.newPassword}
            hint={auth.passwordHint}
            autoComplete="new-password"
            isRequired
          />
        </ActionForm>
        <p className="aside">
          <Link to="/">{auth.toSignIn}</Link>
        </p>
      </Page>
    </PlainFrame>
  );
}
