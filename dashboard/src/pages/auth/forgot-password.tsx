import { Link } from '@tanstack/react-router';
import { answerOf } from '../../api/client.js';
import { useApi } from '../../app-context.js';
import { useMessages } from '../../i18n/locale.js';
import { PlainFrame } from '../../shell/plain-frame.js';
import { ActionForm } from '../../ui/action-form.js';
import { TextInput } from '../../ui/fields.js';
import { Loaded } from '../../ui/loaded.js';
import { Page } from '../../ui/page.js';
import { useAuthOptions } from './use-auth-options.js';

/** Asks for a link to replace a forgotten password, if the service sends mail. */
export function ForgotPassword() {
  const { account, auth } = useMessages();
  const api = useApi();
  const options = useAuthOptions();
  return (
    <PlainFrame>
      <Page title={account.forgotTitle}>
        <Loaded query={options}>
          {({ mail }) =>
            mail ? (
              <ActionForm
                submit={account.sendLink}
                done={account.linkSent}
                action={(values) =>
                  answerOf(
                    api.POST('/api/v1/auth/request-password-reset', { body: { email: values.text('email').trim() } }),
                  )
                }
              >
                <p>{account.forgotText}</p>
                <TextInput name="email" type="email" label={auth.email} autoComplete="username" isRequired />
              </ActionForm>
            ) : (
              <p>{account.forgotNoMail}</p>
            )
          }
        </Loaded>
        <p className="aside">
          {auth.forgotten} <Link to="/reset-password">{auth.resetTitle}</Link>
        </p>
        <p className="aside">
          <Link to="/">{auth.toSignIn}</Link>
        </p>
      </Page>
    </PlainFrame>
  );
}
