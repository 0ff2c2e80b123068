import { useMessages } from '../../i18n/locale.js';
import { Button } from '../../ui/button.js';
import { Copyable } from '../../ui/copy.js';
import { Dialog } from '../../ui/dialog.js';
import { Notice } from '../../ui/notice.js';

/** A token that a person needs. */
export interface Delivery {
  readonly page: 'accept-invitation' | 'reset-password';
  readonly email: string;
  /** Null if the service sends it by mail. */
  readonly token: string | null;
}

interface LinkDialogProps {
  readonly delivery: Delivery | null;
  readonly onClose: () => void;
}

/** Shows the link that the user has to deliver, or says that the service sends it. */
export function LinkDialog({ delivery, onClose }: LinkDialogProps) {
  const { team } = useMessages();
  const label = delivery?.page === 'reset-password' ? team.resetLink : team.invitationLink;
  return (
    <Dialog
      title={label}
      isOpen={delivery !== null}
      onClose={onClose}
      staysOpen
      isShownOnce={delivery !== null && delivery.token !== null}
    >
      {delivery === null ? null : <Link delivery={delivery} label={label} />}
      <Button look="primary" onPress={onClose}>
        {team.understood}
      </Button>
    </Dialog>
  );
}

interface LinkProps {
  readonly delivery: Delivery;
  readonly label: string;
}

function Link({ delivery: { page, email, token }, label }: LinkProps) {
  const { team } = useMessages();
  if (token === null) return <p>{team.sent(email)}</p>;
  return (
    <>
      <Notice kind="warning">
        <p>{team.deliver}</p>
      </Notice>
      <Copyable text={`${location.origin}/panel/${page}#token=${token}`} label={label} />
    </>
  );
}
