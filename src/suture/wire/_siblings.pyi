from collections.abc import Callable

from suture.model.names import Gvk, ObjectKey, Resource
from suture.model.objects import ClusterObject, PodFacts
from suture.wire.pages import Event, EventType, Seen

class Siblings:
    def __init__(
        self,
        resource: Resource,
        gvk: Gvk,
        made: tuple[type[ClusterObject], type[ObjectKey], type[PodFacts], type[Seen]],
        added: EventType,
        read: Callable[[bytes], list[Event]],
        /,
    ) -> None: ...
    @property
    def taken(self) -> int: ...
    def events(self, block: bytes, /) -> list[Event]: ...
