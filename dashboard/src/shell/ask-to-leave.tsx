import { useContext } from 'react';
import { useMessages } from '../i18n/locale.js';
import { AskBefore } from '../ui/ask-before.js';
import { UnsavedContext } from '../ui/unsaved.js';

interface AskToLeaveProps {
  readonly isOpen: boolean;
  readonly onStay: () => void;
  readonly onLeave: () => void;
}

/** Asks before the page around it is left, and says what would be lost. */
export function AskToLeave({ isOpen, onStay, onLeave }: AskToLeaveProps) {
  const { common } = useMessages();
  const scope = useContext(UnsavedContext);
  const texts = isOpen && scope?.held() === 'shown-once' ? common.leaveShownOnce : common.leaveUnsaved;
  return <AskBefore {...common.leave} {...texts} isOpen={isOpen} onStay={onStay} onLeave={onLeave} />;
}
