import { Outlet } from '@tanstack/react-router';
import { Frame } from './frame.js';
import { LeaveGuard } from './leave-guard.js';

/** The pages for users. It is a file of its own, because a visitor who signs in needs none of it yet. */
export function SignedIn() {
  return (
    <LeaveGuard>
      <Frame>
        <Outlet />
      </Frame>
    </LeaveGuard>
  );
}
