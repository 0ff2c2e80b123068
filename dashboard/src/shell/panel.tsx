import { Outlet } from '@tanstack/react-router';
import { useSession } from '../app-context.js';
import { SignIn } from '../pages/auth/sign-in.js';
import { Skeleton } from '../ui/skeleton.js';
import { Frame } from './frame.js';
import { LeaveGuard } from './leave-guard.js';

/** The pages for users. Without a sign-in it asks for one, and then shows the page of the address. */
export function Panel() {
  const session = useSession();
  if (session.status === 'starting') return <Skeleton lines={6} />;
  if (session.status === 'signed-out') return <SignIn />;
  return (
    <LeaveGuard>
      <Frame>
        <Outlet />
      </Frame>
    </LeaveGuard>
  );
}
