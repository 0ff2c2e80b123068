import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { answerOf, dataOf } from '../../api/client.js';
import { useApi } from '../../app-context.js';
import { useMessages } from '../../i18n/locale.js';
import { PlainFrame } from '../../shell/plain-frame.js';
import { ActionForm } from '../../ui/action-form.js';
import { TextInput } from '../../ui/fields.js';
import { Loaded } from '../../ui/loaded.js';
import { Page } from '../../ui/page.js';

/** Asks for a link with which a forgotten password is replaced, if the service sends mail. */
export function ForgotPassword() {
  const { account, auth } = useMessages();
  const api = useApi();
  const options = useQuery({
    queryKey: ['auth-options'],
    queryFn: () => dataOf(api.GET('/api/v1/auth/options')),
  });
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
