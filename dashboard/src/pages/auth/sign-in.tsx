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

/** Asks for address and password, and asks users with a second factor for a code. */
export function SignIn() {
  const { auth, account, secondFactor, signUp } = useMessages();
  const api = useApi();
  const session = useSessionStore();
  const [needsCode, setNeedsCode] = useState(false);
  const signIn = async (values: Values) => {
    const code = values.text('totp_code').trim();
    const body = {
      email: values.text('email'),
      password: values.text('password'),
      ...(code !== '' && codeIn(code)),
      refresh_token_in: 'cookie' as const,
    };
    try {
      session.begin(await dataOf(api.POST('/api/v1/auth/login', { body })));
    } catch (error) {
      if (!(error instanceof ApiFailure) || error.code !== 'SECOND_FACTOR_REQUIRED') throw error;
      setNeedsCode(true);
    }
  };
  return (
    <PlainFrame>
      <Page title={auth.title}>
        <ActionForm submit={auth.signIn} action={signIn}>
          <TextInput name="email" type="email" label={auth.email} autoComplete="username" isRequired />
          <TextInput name="password" type="password" label={auth.password} autoComplete="current-password" isRequired />
          {needsCode ? (
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
