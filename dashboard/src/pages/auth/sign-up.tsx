import { Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { dataOf } from '../../api/client.js';
import { useApi } from '../../app-context.js';
import { useMessages } from '../../i18n/locale.js';
import { PlainFrame } from '../../shell/plain-frame.js';
import { ActionForm, type Values } from '../../ui/action-form.js';
import { TextInput } from '../../ui/fields.js';
import { Loaded } from '../../ui/loaded.js';
import { Notice } from '../../ui/notice.js';
import { Page } from '../../ui/page.js';
import { withProof } from './prove-work.js';
import { useAuthOptions } from './use-auth-options.js';

/** Asks for an organisation, where the operator lets everyone create one. */
export function SignUp() {
  const { signUp, auth } = useMessages();
  const options = useAuthOptions();
  return (
    <PlainFrame>
      <Page title={signUp.title}>
        <Loaded query={options}>{({ sign_up }) => (sign_up === 'open' ? <AskForm /> : <p>{signUp.closed}</p>)}</Loaded>
        <p className="aside">
          <Link to="/">{auth.toSignIn}</Link>
        </p>
      </Page>
    </PlainFrame>
  );
}

function AskForm() {
  const { signUp, auth } = useMessages();
  const api = useApi();
  const navigate = useNavigate();
  const [sentTo, setSentTo] = useState<string | null>(null);
  const [isProving, setProving] = useState(false);
  const ask = async (values: Values) => {
    const body = { organisation: values.text('organisation').trim(), email: values.text('email').trim() };
    const { token } = await withProof(
      (proof) => dataOf(api.POST('/api/v1/auth/sign-up', { body: { ...body, proof_of_work: proof } })),
      () => setProving(true),
    ).finally(() => setProving(false));
    if (token === null) setSentTo(body.email);
    else await navigate({ to: '/confirm-sign-up', hash: `token=${token}` });
  };
  if (sentTo !== null) {
    return (
      <Notice kind="good" isAnnounced>
        <p>{signUp.sent(sentTo)}</p>
      </Notice>
    );
  }
  return (
    <ActionForm submit={signUp.ask} action={ask}>
      <TextInput name="organisation" label={signUp.organisation} autoComplete="organization" isRequired />
      <TextInput name="email" type="email" label={auth.email} autoComplete="username" isRequired />
      <p role="status">{isProving ? signUp.proving : ''}</p>
    </ActionForm>
  );
}
