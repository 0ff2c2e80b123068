import { Link } from '@tanstack/react-router';
import { dataOf } from '../../api/client.js';
import { useApi, useSessionStore } from '../../app-context.js';
import { useMessages } from '../../i18n/locale.js';
import { PlainFrame } from '../../shell/plain-frame.js';
import { ActionForm } from '../../ui/action-form.js';
import { TextInput } from '../../ui/fields.js';
import { Page } from '../../ui/page.js';

export function SignIn() {
  const { auth, account } = useMessages();
  const api = useApi();
  const session = useSessionStore();
  return (
    <PlainFrame>
      <Page title={auth.title}>
        <ActionForm
          submit={auth.signIn}
          action={async (values) => {
            const body = { email: values.text('email'), password: values.text('password') };
            session.begin(
              await dataOf(api.POST('/api/v1/auth/login', { body: { ...body, refresh_token_in: 'cookie' } })),
            );
          }}
        >
          <TextInput name="email" type="email" label={auth.email} autoComplete="username" isRequired />
          <TextInput name="password" type="password" label={auth.password} autoComplete="current-password" isRequired />
        </ActionForm>
        <p className="aside">
          {auth.invitation} <Link to="/accept-invitation">{auth.acceptTitle}</Link>
        </p>
        <p className="aside">
          <Link to="/forgot-password">{account.forgotTitle}</Link>
        </p>
      </Page>
    </PlainFrame>
  );
}
