#pragma once
#include <cub/collective.h>
