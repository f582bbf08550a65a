"""What can go wrong with the log. Each text is one sentence for the person."""


class StoreError(Exception):
    """The log could not be opened, read or written; what it held before is intact."""


class StoreFull(StoreError):
    """There is no room left where the log lies. Writing works again once there is."""


class StoreClosed(StoreError):
    """The log was used after it was closed."""
