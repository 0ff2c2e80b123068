import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { dataOf } from '../../api/client.js';
import { ApiFailure } from '../../api/failure.js';
import { useApi, useSessionStore } from '../../app-context.js';
import { useMessages } from '../../i18n/locale.js';
import { PlainFrame } from '../../shell/plain-frame.js';
import { ActionForm, type Values } from '../../ui/action-form.js';
import { TextInput } from '../../ui/fields.js';
import { Page } from '../../ui/page.js';
import { codeIn } from './code-in.js';
import { hasPasskeys, usePasskeys } from './passkey.js';
import { useAuthOptions } from './use-auth-options.js';

interface Entered {
  readonly email: string;
  readonly password: string;
  /** Identifiers of the passkeys of the user. */
  readonly passkeys: readonly string[];
}

/** Asks for address and password or a passkey, and asks users with a second factor for a code or a passkey. */
export function SignIn() {
  const { auth, account, secondFactor, signUp, passkeys } = useMessages();
  const options = useAuthOptions();
  const { use } = usePasskeys();
  const api = useApi();
  const session = useSessionStore();
  /** What was entered, if a second factor is required as well. */
  const [entered, setEntered] = useState<Entered | null>(null);
  const signIn = async (values: Values) => {
    const code = values.text('totp_code').trim();
    const credentials = { email: values.text('email'), password: values.text('password') };
    const body = {
      ...credentials,
      ...(code !== '' && codeIn(code)),
      refresh_token_in: 'cookie' as const,
    };
    try {
      session.begin(await dataOf(api.POST('/api/v1/auth/login', { body })));
    } catch (error) {
      if (!(error instanceof ApiFailure) || error.code !== 'SECOND_FACTOR_REQUIRED') throw error;
      setEntered({ ...credentials, passkeys: error.passkeys });
    }
  };
  const signInByPasskey = async () => {
    const refresh_token_in = 'cookie' as const;
    if (entered === null) {
      const passkey = await use('sign_in', []);
      session.begin(await dataOf(api.POST('/api/v1/auth/passkeys/sign-in', { body: { passkey, refresh_token_in } })));
      return;
    }
    const { passkeys: allowed, ...credentials } = entered;
    const passkey = await use('second_factor', allowed);
    session.begin(
      await dataOf(api.POST('/api/v1/auth/login', { body: { ...credentials, passkey, refresh_token_in } })),
    );
  };
  return (
    <PlainFrame>
      <Page title={auth.title}>
        <div className="stack">
          <ActionForm submit={auth.signIn} action={signIn}>
            <TextInput name="email" type="email" label={auth.email} autoComplete="username" isRequired />
            <TextInput
              name="password"
              type="password"
              label={auth.password}
              autoComplete="current-password"
              isRequired
            />
            {entered !== null ? (
              <TextInput
                name="totp_code"
                label={secondFactor.codeOrRecovery}
                hint={secondFactor.askCode}
                autoComplete="one-time-code"
                isRequired
                takesFocus
              />
            ) : null}
          </ActionForm>
          {options.data?.passkeys === true && hasPasskeys() && entered?.passkeys.length !== 0 ? (
            <ActionForm
              key={String(entered === null)}
              submit={entered === null ? passkeys.signIn : passkeys.use}
              look="plain"
              action={signInByPasskey}
            >
              {null}
            </ActionForm>
          ) : null}
        </div>
        <p className="aside">
          {auth.invitation} <Link to="/accept-invitation">{auth.acceptTitle}</Link>
        </p>
        <p className="aside">
          <Link to="/forgot-password">{account.forgotTitle}</Link>
        </p>
        <p className="aside">
          {signUp.question} <Link to="/sign-up">{signUp.title}</Link>
        </p>
      </Page>
    </PlainFrame>
  );
}
