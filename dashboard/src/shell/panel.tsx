import { Outlet } from '@tanstack/react-router';
import { useSession } from '../app-context.js';
import { useMessages } from '../i18n/locale.js';
import { SignIn } from '../pages/auth/sign-in.js';
import { Frame } from './frame.js';

/** The pages for users. Without a sign-in it asks for one, and then shows the page of the address. */
export function Panel() {
  const session = useSession();
  const { common } = useMessages();
  if (session.status === 'starting') return <p className="loading starting">{common.loading}</p>;
  if (session.status === 'signed-out') return <SignIn />;
  return (
    <Frame>
      <Outlet />
    </Frame>
  );
}
