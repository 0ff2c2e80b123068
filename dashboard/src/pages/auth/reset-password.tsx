import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { dataOf } from '../../api/client.js';
import { useApi } from '../../app-context.js';
import { useMessages } from '../../i18n/locale.js';
import { PlainFrame } from '../../shell/plain-frame.js';
import { ActionForm } from '../../ui/action-form.js';
import { Notice } from '../../ui/notice.js';
import { Page } from '../../ui/page.js';
import { TokenAndPassword, tokenAndPassword } from './token-and-password.js';
import { useTokenInLink } from './token-in-link.js';

export function ResetPassword() {
  const { auth } = useMessages();
  const api = useApi();
  const token = useTokenInLink();
  const [isDone, setDone] = useState(false);
  return (
    <PlainFrame>
      <Page title={auth.resetTitle} lead={auth.resetText}>
        {isDone ? (
          <Notice kind="good" isAnnounced>
            <p>{auth.resetDone}</p>
          </Notice>
        ) : (
          <ActionForm
            submit={auth.reset}
            action={async (values) => {
              await dataOf(api.POST('/api/v1/auth/reset-password', { body: tokenAndPassword(values) }));
              setDone(true);
            }}
          >
            <TokenAndPassword label={auth.resetToken} token={token} />
          </ActionForm>
        )}
        <p className="aside">
          <Link to="/">{auth.toSignIn}</Link>
        </p>
      </Page>
    </PlainFrame>
  );
}
